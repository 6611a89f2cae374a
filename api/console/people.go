package console

import (
	"context"
	"encoding/json"

	"github.com/taskloom/taskloom/internal/store"
)

// directory is what the API needs of the database for members, invites and what
// everybody keeps for themselves.
type directory interface {
	OrgMembers(ctx context.Context, orgID int64) ([]store.OrgMember, error)
	SetOrgRole(ctx context.Context, by store.Member, userID int64, role string) error
	RemoveMember(ctx context.Context, by store.Member, userID int64) error
	ProjectMembers(ctx context.Context, orgID, projectID int64) (store.ProjectPeople, error)
	SetProjectRole(ctx context.Context, by store.Member, userID int64, role store.Role) error
	RemoveProjectMember(ctx context.Context, by store.Member, userID int64) error
	CreateProject(ctx context.Context, by store.Member, name string) (store.MyProject, error)
	RenameProject(ctx context.Context, by store.Member, name string) (store.MyProject, error)
	Administers(ctx context.Context, userID int64) (bool, error)

	CreateInvite(ctx context.Context, by store.Member, in store.NewInvite) (store.Invite, error)
	Invites(ctx context.Context, orgID, projectID int64) ([]store.Invite, error)
	RevokeInvite(ctx context.Context, by store.Member, inviteID int64) error
	InviteByToken(ctx context.Context, hash [32]byte) (store.Invitation, error)
	AcceptInvite(ctx context.Context, hash [32]byte, who store.Invitee) (store.User, error)

	Sessions(ctx context.Context, userID int64) ([]store.Session, error)
	EndSession(ctx context.Context, userID, sessionID int64) error
	EndOtherSessions(ctx context.Context, userID int64, keep [32]byte) (int64, error)
	ChangePassword(ctx context.Context, userID int64, old, renewed string, keep [32]byte) error
	Settings(ctx context.Context, userID int64) (map[string]json.RawMessage, error)
	PutSetting(ctx context.Context, userID int64, key string, value json.RawMessage) error
}
