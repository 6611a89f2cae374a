package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) userCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "user", Short: "Remove people from an organization"}
	var org string
	remove := &cobra.Command{
		Use:   "remove --org SLUG EMAIL",
		Short: "End a person's membership, with their claims and sessions, at once",
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.removeUser(cmd.Context(), org, args[0]) },
	}
	remove.Flags().StringVar(&org, "org", "", "slug of the organization")
	_ = remove.MarkFlagRequired("org") // only fails for an unknown flag
	cmd.AddCommand(remove)
	return cmd
}

func (a *app) removeUser(ctx context.Context, org, email string) error {
	c, err := a.config("DATABASE_URL")
	if err != nil {
		return err
	}
	st, err := openStore(ctx, c)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := st.RemoveUser(ctx, org, email); err != nil {
		return err
	}
	if _, err = fmt.Fprintf(a.out, "%s is no member of %s any more\n", email, org); err != nil {
		return err
	}
	left, err := st.HasAdmin(ctx, org)
	if err == nil && !left {
		_, err = fmt.Fprintf(a.err, "%s has no org admin now; name another one in a document for taskloom apply\n", org)
	}
	return err
}
