import { z } from 'zod';
import { invalid } from '../../../kernel/index.ts';
import { sshKeyUses } from '../../../accounts/index.ts';
import { plainHttpMirrorRisk } from '../../../mirrors/index.ts';
import { objectId, payloadCommit } from './commits-schemas.ts';
import {
  commitStatus,
  combinedStatus,
  giteaRepository,
  giteaUser,
  organisation,
} from '../../../gitea-shapes/schemas.ts';
import { collaboratorRoles, organisationRoles } from '../../../access/index.ts';

/**
 * The shapes of the API, defined once: the compiler and a test check responses against them, the OpenAPI document is
 * generated from them, and input is parsed by them.
 */

export { commitStatus, combinedStatus, organisation };

export const time = z.iso.datetime().describe('ISO 8601, UTC');
const handle = z.string().describe('Handle of a person or an organisation');
const visibility = z.enum(['PUBLIC', 'PRIVATE']);
const scope = z.enum(['read', 'write', 'admin']);
const commitState = z.enum(['pending', 'success', 'failure', 'error']);
export const collaboratorRole = z.enum(collaboratorRoles);
export const organisationRole = z.enum(organisationRoles);

export const error = z
  .strictObject({
    error: z.strictObject({
      code: z.string().describe('Stable: programs may rely on it'),
      message: z.string().describe('A sentence for a person'),
      field: z.string().optional().describe('What of the input it is about'),
    }),
    message: z.string().describe('The same sentence, where clients of Gitea look for it'),
    url: z.string().describe('The documentation of the API'),
  })
  .meta({ id: 'Error' });

export const searchResult = z
  .strictObject({
    repositories: z.array(
      z.strictObject({ owner: handle, name: z.string(), visibility, description: z.string(), createdAt: time }),
    ),
    persons: z.array(z.strictObject({ username: z.string(), displayName: z.string() })),
  })
  .meta({ id: 'SearchResult' });

/** A repository in Gitea's form, with fields of our own at the end. */
export const repository = z
  .strictObject({
    ...giteaRepository.shape,
    visibility,
    defaultBranch: z.string(),
    defaultBranchProtected: z.boolean().describe('Whether a rule keeps pushes from rewriting the default branch'),
    acceptsGerritRefs: z.boolean().describe('Whether pushes may write refs/changes/ and refs/meta/'),
    createdAt: time,
    updatedAt: time,
    pushedAt: time.nullable(),
    imageUrl: z.string().nullable().describe('The custom image, null without one'),
    cloneUrl: z.string(),
    sshUrl: z.string().nullable().describe('Null while SSH is off'),
  })
  .meta({ id: 'Repository' });

export const branch = z
  .strictObject({
    name: z.string(),
    id: objectId,
    isDefault: z.boolean(),
    commit: payloadCommit,
    protected: z.boolean().describe('Whether a rule decides about it'),
    effective_branch_protection_name: z.string().describe('The pattern of that rule; empty without one'),
    user_can_push: z.boolean().describe('Whether the caller may push to it'),
    user_can_merge: z.boolean().describe('Whether the caller may merge pull requests into it'),
    required_approvals: z.int(),
    enable_status_check: z.boolean().describe('Whether merges wait for statuses'),
    status_check_contexts: z.array(z.string()),
  })
  .meta({ id: 'Branch' });

const treeEntry = z
  .strictObject({
    name: z.string().describe('Bytes that are not UTF-8 show as U+FFFD'),
    path: z.string(),
    kind: z.enum(['folder', 'file', 'executable', 'symlink', 'submodule']),
    mode: z.string(),
    id: objectId,
    size: z.int().nullable().describe('Bytes of a file'),
  })
  .meta({ id: 'TreeEntry' });
export const tree = z
  .strictObject({
    commit: objectId,
    id: objectId,
    path: z.string(),
    entries: z.array(treeEntry),
    truncated: z.boolean(),
  })
  .meta({ id: 'Tree' });

export const archive = z.strictObject({ commit: objectId, tarGz: z.string(), zip: z.string() }).meta({ id: 'Archive' });

export const newCommitStatus = z
  .strictObject({
    context: z.string().max(200).optional().describe('Left out or empty: default'),
    state: z.enum([...commitState.options, 'warning']),
    description: z.string().max(500).optional(),
    targetUrl: z.string().max(1000).nullable().optional().describe('An http(s) address'),
    target_url: z.string().max(1000).nullable().optional().describe('The same, as Gitea calls it'),
  })
  .meta({ id: 'NewCommitStatus' });

const anyId = z.string().describe('Full id of a git object; all zero for none');
export const movedRef = z.strictObject({ ref: z.string(), oldId: anyId, newId: anyId }).meta({ id: 'MovedRef' });
export const activityPush = z
  .strictObject({
    id: z.string(),
    via: z.enum(['http', 'ssh', 'web', 'api', 'cli', 'undo', 'mirror', 'sync', 'merge']),
    person: handle
      .nullable()
      .describe('Null for the server itself, its command line, a deploy key, or a deleted account'),
    deployKey: z.string().nullable().describe('Title of the deploy key that pushed'),
    at: time,
    updates: z
      .array(
        z.strictObject({
          ...movedRef.shape,
          forced: z.boolean().nullable().describe('Whether commits were left behind; null while it is not yet known'),
          lostTip: z.string().nullable().describe('What restores the old id; null when there is nothing to restore'),
          restorableUntil: time.nullable(),
        }),
      )
      .describe('The first twenty'),
    updateCount: z.int(),
  })
  .meta({ id: 'ActivityPush' });
export const lostTip = z
  .strictObject({
    id: z.string(),
    ...movedRef.shape,
    forced: z.boolean(),
    current: z.string().nullable().describe('Where the ref is now'),
    person: handle.nullable(),
    lostAt: time,
    expiresAt: time,
  })
  .meta({ id: 'LostTip' });
export const undoRequest = z
  .strictObject({
    as: z.string().optional().describe('A new branch that gets the old tip; left out, the ref itself'),
    expected: z.string().optional().describe('Where the ref must still be'),
  })
  .meta({ id: 'UndoRequest' });

const mirrorSaid = {
  direction: z
    .enum(['pull', 'push'])
    .describe('pull: this repository follows the other; push: the other follows this one'),
  address: z
    .string()
    .describe(
      `An https address; for hosts of mirrors.allowed_hosts also http, ssh://user@host:port/path or user@host:path. ${plainHttpMirrorRisk}`,
    ),
};
export const mirror = z
  .strictObject({
    ...mirrorSaid,
    username: z.string(),
    hasSecret: z.boolean(),
    state: z
      .string()
      .describe(
        'ok, new, paused, failing with the number of failures; of ssh also waiting for key and host key changed',
      ),
    publicKey: z
      .string()
      .nullable()
      .describe('Public key of a mirror over SSH: add it to the remote as a deploy key, with write access to push'),
    hostKeyFingerprint: z.string().nullable().describe('Of the host key that is trusted: ED25519 SHA256:…'),
    offeredHostKeyFingerprint: z
      .string()
      .nullable()
      .describe('Of another one that the host shows by now; the mirror waits until it is accepted'),
    intervalMs: z.int().nullable().describe('Null for an import, which is done once'),
    prune: z.boolean(),
    releases: z.boolean().describe('Whether a pull mirror brings releases with notes and files along'),
    failures: z.int(),
    lastError: z.string().nullable(),
    lastOkAt: time.nullable(),
    nextAt: time.nullable().describe('Null while it is paused'),
  })
  .meta({ id: 'Mirror' });
export const hostKeyAcceptance = z
  .strictObject({ fingerprint: z.string().max(200).describe('offeredHostKeyFingerprint, after it was compared') })
  .meta({ id: 'HostKeyAcceptance' });
export const mirrorInput = z
  .strictObject({
    ...mirrorSaid,
    username: z.string().optional(),
    secret: z.string().max(500).optional().describe('Left out, it stays, as long as the host does'),
    newKey: z.boolean().optional().describe('Makes another key pair for a mirror by ssh'),
    intervalMs: z.int().optional().describe('Left out, eight hours'),
    prune: z
      .boolean()
      .optional()
      .describe('Whether what is gone on the leading side goes on the other; left out, it does'),
    releases: z
      .boolean()
      .optional()
      .describe('Whether a pull mirror over http brings releases with notes and files along; left out, it does not'),
  })
  .meta({ id: 'MirrorInput' });

export const collaborator = z
  .strictObject({
    ...giteaUser.shape,
    displayName: z.string(),
    role: collaboratorRole,
    level: z
      .enum(['none', 'read', 'write', 'admin'])
      .describe('What the person may really do; an organisation may give more than the role'),
    since: time,
  })
  .meta({ id: 'Collaborator' });

export const person = z
  .strictObject({
    ...giteaUser.shape,
    email: z.string().describe('The primary address for its owner; for others one that is public; else empty'),
    displayName: z.string(),
    bio: z.string(),
    createdAt: time,
    url: z.string(),
  })
  .meta({ id: 'Person' });
export const me = z
  .strictObject({
    ...person.shape,
    isAdministrator: z.boolean(),
    hasSecondFactor: z.boolean().describe('Whether a sign-in with the password asks for a second factor'),
  })
  .meta({ id: 'Me' });

export const email = z
  .strictObject({ email: z.string(), verified: z.boolean(), primary: z.boolean(), username: z.string() })
  .meta({ id: 'Email' });

/** An SSH key in Gitea's form, with fields of our own at the end. */
export const sshKey = z
  .strictObject({
    id: z.int().describe('Follows from the UUID'),
    key: z.string().describe('As a line of a .pub file'),
    url: z.string(),
    title: z.string(),
    fingerprint: z.string(),
    created_at: time,
    last_used_at: time.nullable(),
    user: giteaUser,
    read_only: z.literal(false).describe('Keys of people write where they may'),
    key_type: z.literal('user'),
    uuid: z.uuid(),
    type: z.string(),
    uses: z.enum(sshKeyUses).describe('What it is for'),
    worksWithBuiltInServer: z.boolean(),
    createdAt: time,
    lastUsedAt: time.nullable(),
  })
  .meta({ id: 'SshKey' });

/** In Gitea's form, for its clients. */
export const gpgKey = z
  .strictObject({
    id: z.int().describe('Follows from the UUID'),
    uuid: z.uuid(),
    primary_key_id: z.literal('').describe('Subkeys are shown with their key'),
    key_id: z.string(),
    public_key: z.string(),
    fingerprint: z.string(),
    algorithm: z.string(),
    user_ids: z.array(z.string()),
    emails: z.array(z.strictObject({ email: z.string(), verified: z.boolean() })),
    subkeys: z.array(z.strictObject({ key_id: z.string(), fingerprint: z.string() })).describe('Those that may sign'),
    can_sign: z.boolean(),
    can_encrypt_comms: z.literal(false),
    can_encrypt_storage: z.literal(false),
    can_certify: z.boolean(),
    verified: z.boolean(),
    revoked: z.boolean(),
    created_at: time.describe('When the key was made'),
    expires_at: time.nullable(),
    added_at: time,
  })
  .meta({ id: 'GpgKey' });

const repositoryNames = z.array(z.string().describe('owner/name'));
export const accessToken = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    ending: z.string().describe('The last four characters'),
    access: scope,
    repositories: repositoryNames.nullable().describe('Null means all'),
    createdAt: time,
    expiresAt: time.nullable(),
    lastUsedAt: time.nullable(),
  })
  .meta({ id: 'AccessToken' });
export const madeAccessToken = z
  .strictObject({ ...accessToken.shape, secret: z.string().describe('Never shown again') })
  .meta({ id: 'MadeAccessToken' });
export const newAccessToken = z
  .strictObject({
    name: z.string(),
    access: scope,
    repositories: repositoryNames.min(1).max(100).nullable().optional().describe('Left out or null: all'),
    expiresAt: z.iso.datetime().nullable().optional().describe('Left out or null: never'),
  })
  .meta({ id: 'NewAccessToken' });

export const member = z
  .strictObject({ ...giteaUser.shape, displayName: z.string(), role: organisationRole, since: time })
  .meta({ id: 'Member' });
/** An organisation and the caller's role in it. */
export const membership = z
  .strictObject({ ...organisation.shape, organisation: handle, role: organisationRole })
  .meta({ id: 'Membership' });

/** The query of every paged list. */
/** For Gitea's clients, which number pages. */
export const numberedPage = z.int().min(0).max(10_000).default(0).describe('From 1, instead of after');
export const paging = {
  limit: z.int().min(1).max(100).default(30).describe('Rows of one page'),
  after: z.string().max(500).optional().describe('What the Link header of the page before gave'),
};

/** The id in `after` for a list sorted by id; null if omitted. Throws `invalid_page`. */
export function idBefore(after: string | undefined): number | null {
  if (after === undefined) return null;
  if (!/^\d{1,15}$/.test(after)) throw invalid('invalid_page', 'This page address is not valid.', { field: 'after' });
  return Number(after);
}
