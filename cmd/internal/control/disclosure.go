package control

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/speech"
)

// inheritUsage is what --inherit says; outer is who decides then.
const inheritUsage = "remove the setting, so that the one of %s applies"

// disclosureChange returns the new disclosure: the text after the first before arguments, or nil with inherit.
func disclosureChange(cmd *cobra.Command, args []string, before int, inherit bool) (map[string]any, error) {
	text := args[before:]
	switch {
	case inherit && len(text) > 0:
		return nil, launch.BadUsage(cmd, "--inherit and a text contradict each other; drop one of them")
	case inherit:
		return map[string]any{"inherit_disclosure": true}, nil
	case len(text) == 0:
		return nil, launch.BadUsage(cmd, "want the disclosure text, '' for none, or --inherit")
	}
	clean, err := speech.CleanDisclosure(text[0])
	if err != nil {
		return nil, launch.BadUsage(cmd, "the text %v", err)
	}
	return map[string]any{"disclosure": clean}, nil
}

// printDisclosure prints the disclosure of an organisation or key.
func (a *Commands) printDisclosure(name string, disclosure *string, outer string) error {
	says := "inherited from " + outer
	switch {
	case disclosure == nil:
	case *disclosure == "":
		says = "none"
	default:
		says = *disclosure
	}
	_, err := fmt.Fprintf(a.Out, "%s  %s\n", name, says)
	return err
}
