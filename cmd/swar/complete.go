package main

import (
	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/cmd/internal/engine"
)

// offerVoices completes a voice name among the voices of the key.
func (a *app) offerVoices(where *remote) cobra.CompletionFunc {
	return a.CompleteFrom(func(cmd *cobra.Command) ([]cobra.Completion, error) {
		v, err := where.voices(cmd)
		return named(v), err
	})
}

// offerVoicesHere is offerVoices for a command that may speak in this process.
func (a *app) offerVoicesHere(where *remote, own *engine.Flags, local *bool) cobra.CompletionFunc {
	return a.CompleteFrom(func(cmd *cobra.Command) ([]cobra.Completion, error) {
		here, err := a.here(cmd, own, *local)
		if err != nil {
			return nil, err
		}
		if !here {
			v, err := where.voices(cmd)
			return named(v), err
		}
		v, err := voicesHere(cmd.Context(), own)
		return named(v), err
	})
}

func named(v client.Voices) (all []cobra.Completion) {
	for _, voice := range v.Voices {
		all = append(all, cobra.CompletionWithDesc(voice.Name, voice.Language))
	}
	return all
}
