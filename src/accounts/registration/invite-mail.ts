import { layout } from '../../mail/index.ts';
import type { MailMessage } from '../../mail/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { hashSecret } from '../secret.ts';
import { inviteSchema } from '../schema/invite-schema.ts';
import { userSchema } from '../schema/user-schema.ts';

/** Mail kind with an invitation link. */
export const inviteMail = 'invite';

interface InviteMail {
  inviteId: string;
  secret: string;
}

export function defineInviteMail(deps: AccountsDeps): void {
  deps.mail.define<InviteMail>(
    inviteMail,
    (data) => render(deps, data),
    'Invitations that are sent to an address. Without mail, you pass their links on yourself.',
  );
}

/** Dropped if the invitation was withdrawn, used or sent again in the meantime: its link would not work. */
async function render(deps: AccountsDeps, { inviteId, secret }: InviteMail): Promise<MailMessage | null> {
  const invite = await deps.db.read.findOneBy(inviteSchema, { id: inviteId });
  if (!invite || invite.address === null || invite.usedAt !== null) return null;
  if (invite.mailedTokenHash !== hashSecret(secret) || deps.clock.now() >= invite.expiresAt) return null;
  const inviter = invite.createdBy && (await deps.db.read.findOneBy(userSchema, { id: invite.createdBy }));
  const by = (inviter && (inviter.displayName || inviter.username)) || 'An administrator';
  const owner =
    invite.organisationId === null
      ? undefined
      : (await deps.owners.ownersById([invite.organisationId])).get(invite.organisationId);
  const host = new URL(deps.baseUrl!).host;
  const until = new Date(invite.expiresAt).toUTCString();
  return {
    to: invite.address,
    subject: `Invitation to ${host}`,
    ...layout({
      title: `You are invited to ${host}`,
      parts: [
        `${by} invites you to ${host}, a server for git repositories. With the link below you choose a username and a password.`,
        ...(owner === undefined ? [] : [`You will be a member of the organisation ${owner.handle}.`]),
      ],
      action: { text: 'Accept the invitation', url: `${deps.baseUrl}/signup?invite=${secret}` },
      after: [`The link works once, until ${until}.`],
      footer: ['If you do not expect this invitation, do nothing. No account is made without the link.'],
    }),
  };
}
