/** Whether the browser lacks what every page needs. The document then keeps its sentence for older browsers. */
export const isOld = typeof HTMLDialogElement === "undefined";
