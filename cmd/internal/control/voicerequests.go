package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/portal"
)

func (a *Commands) voiceRequestsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "voice-requests",
		Short: "List voice requests and their states",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.voiceRequestsListCommand(), a.voiceRequestsMoveCommand())
	return cmd
}

func (a *Commands) voiceRequestsListCommand() *cobra.Command {
	var c control
	cmd := &cobra.Command{
		Use: "list", Short: "List voice requests", Args: launch.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.open(a, cmd); err != nil {
				return err
			}
			all, err := c.orgs(cmd.Context())
			if err != nil {
				return err
			}
			var asked struct {
				VoiceRequests []json.RawMessage `json:"voice_requests"`
			}
			asked.VoiceRequests = []json.RawMessage{}
			for _, o := range all.Orgs {
				var page struct {
					VoiceRequests []json.RawMessage `json:"voice_requests"`
				}
				if _, err := c.do(cmd.Context(), http.MethodGet, "/portal/v1/voice-requests?org_id="+o.ID, nil,
					&page); err != nil {
					return err
				}
				asked.VoiceRequests = append(asked.VoiceRequests, page.VoiceRequests...)
			}
			if c.asJSON {
				return a.PrintJSON(asked)
			}
			rows := make([]portal.VoiceRow, len(asked.VoiceRequests))
			for i, r := range asked.VoiceRequests {
				if err := json.Unmarshal(r, &rows[i]); err != nil {
					return err
				}
			}
			return a.printVoiceRequests(rows...)
		},
	}
	c.flags(cmd.Flags())
	return cmd
}

func (a *Commands) voiceRequestsMoveCommand() *cobra.Command {
	var c control
	cmd := &cobra.Command{
		Use:   "move REQUEST STATUS",
		Short: "Move a voice request to its next state; for operators",
		Long:  "Moves a voice request from submitted to reviewing, approved, training and ready, one step at a time, or to declined before approval.",
		Args:  launch.Exactly(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.open(a, cmd); err != nil {
				return err
			}
			if !c.local() {
				return launch.BadUsage(cmd, "only the operator may do that, on the server's machine; leave --token out")
			}
			var row portal.VoiceRow
			path := "/operator/v1/voice-requests/" + url.PathEscape(args[0]) + "/" + url.PathEscape(args[1])
			answer, err := c.do(cmd.Context(), http.MethodPost, path, nil, &row)
			if err != nil {
				return err
			}
			return c.print(a, answer, func() error { return a.printVoiceRequests(row) })
		},
	}
	c.flags(cmd.Flags())
	return cmd
}

func (a *Commands) printVoiceRequests(rows ...portal.VoiceRow) error {
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "id\tvoice\tlanguage\tby\tcreated\tstatus")
	for _, v := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", v.ID, v.VoiceName, v.Language, v.CreatedBy, when(v.CreatedAt, "-"),
			v.Status)
	}
	return t.Flush()
}
