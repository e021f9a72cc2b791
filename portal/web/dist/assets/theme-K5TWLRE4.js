var a=document.documentElement,e=localStorage.getItem("swar.theme");e&&(a.dataset.theme=e);var t=localStorage.getItem("swar.language");t&&(a.lang=t);
