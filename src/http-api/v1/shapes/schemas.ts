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
const handle = z.string().describe('Name of a user or an organisation');
const visibility = z.enum(['PUBLIC', 'PRIVATE']);
const scope = z.enum(['read', 'write', 'admin']);
const commitState = z.enum(['pending', 'success', 'failure', 'error']);
export const collaboratorRole = z.enum(collaboratorRoles);
export const organisationRole = z.enum(organisationRoles);

export const error = z
  .strictObject({
    error: z.strictObject({
      code: z.string().describe('Stable identifier for programs'),
      message: z.string().describe('Human-readable message'),
      field: z.string().optional().describe('Name of the input field that caused the error'),
    }),
    message: z.string().describe('Same message, in the field that Gitea clients read'),
    url: z.string().describe('URL of the API documentation'),
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
    defaultBranchProtected: z.boolean().describe('Whether a rule prevents force pushes to the default branch'),
    acceptsGerritRefs: z.boolean().describe('Whether pushes can write to refs/changes/ and refs/meta/'),
    createdAt: time,
    updatedAt: time,
    pushedAt: time.nullable(),
    imageUrl: z.string().nullable().describe('URL of the custom image; null if none'),
    cloneUrl: z.string(),
    sshUrl: z.string().nullable().describe('Null while SSH is disabled'),
  })
  .meta({ id: 'Repository' });

export const branch = z
  .strictObject({
    name: z.string(),
    id: objectId,
    isDefault: z.boolean(),
    commit: payloadCommit,
    protected: z.boolean().describe('Whether a rule applies to it'),
    effective_branch_protection_name: z.string().describe('Pattern of that rule; empty if none'),
    user_can_push: z.boolean().describe('Whether the caller can push to it'),
    user_can_merge: z.boolean().describe('Whether the caller can merge pull requests into it'),
    required_approvals: z.int(),
    enable_status_check: z.boolean().describe('Whether merges require status checks'),
    status_check_contexts: z.array(z.string()),
  })
  .meta({ id: 'Branch' });

const treeEntry = z
  .strictObject({
    name: z.string().describe('Bytes that are not valid UTF-8 appear as U+FFFD'),
    path: z.string(),
    kind: z.enum(['folder', 'file', 'executable', 'symlink', 'submodule']),
    mode: z.string(),
    id: objectId,
    size: z.int().nullable().describe('File size in bytes'),
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
    context: z.string().max(200).optional().describe('Defaults to default, also if empty'),
    state: z.enum([...commitState.options, 'warning']),
    description: z.string().max(500).optional(),
    targetUrl: z.string().max(1000).nullable().optional().describe('HTTP or HTTPS URL'),
    target_url: z.string().max(1000).nullable().optional().describe('Gitea’s name for targetUrl'),
  })
  .meta({ id: 'NewCommitStatus' });

const anyId = z.string().describe('Full git object ID; all zeros for none');
export const movedRef = z.strictObject({ ref: z.string(), oldId: anyId, newId: anyId }).meta({ id: 'MovedRef' });
export const activityPush = z
  .strictObject({
    id: z.string(),
    via: z.enum(['http', 'ssh', 'web', 'api', 'cli', 'undo', 'mirror', 'sync', 'merge']),
    person: handle
      .nullable()
      .describe('Null for the server itself, its command line, deploy keys and deleted accounts'),
    deployKey: z.string().nullable().describe('Title of the deploy key used for the push'),
    at: time,
    updates: z
      .array(
        z.strictObject({
          ...movedRef.shape,
          forced: z.boolean().nullable().describe('Whether the push discarded commits; null until known'),
          lostTip: z.string().nullable().describe('ID for restoring the old tip; null if there is nothing to restore'),
          restorableUntil: time.nullable(),
        }),
      )
      .describe('First twenty'),
    updateCount: z.int(),
  })
  .meta({ id: 'ActivityPush' });
export const lostTip = z
  .strictObject({
    id: z.string(),
    ...movedRef.shape,
    forced: z.boolean(),
    current: z.string().nullable().describe('Current tip of the ref'),
    person: handle.nullable(),
    lostAt: time,
    expiresAt: time,
  })
  .meta({ id: 'LostTip' });
export const undoRequest = z
  .strictObject({
    as: z.string().optional().describe('New branch for the old tip; defaults to the ref itself'),
    expected: z.string().optional().describe('Expected current tip of the ref'),
  })
  .meta({ id: 'UndoRequest' });

const mirrorSaid = {
  direction: z
    .enum(['pull', 'push'])
    .describe('pull: this repository follows the remote; push: the remote follows this repository'),
  address: z
    .string()
    .describe(
      `HTTPS URL; for hosts in mirrors.allowed_hosts also http, ssh://user@host:port/path or user@host:path. ${plainHttpMirrorRisk}`,
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
        'ok, new, paused, or failing with the number of failures; for SSH also waiting for key and host key changed',
      ),
    publicKey: z
      .string()
      .nullable()
      .describe('Public key of a mirror over SSH: add it to the remote as a deploy key, with write access to push'),
    hostKeyFingerprint: z.string().nullable().describe('Fingerprint of the trusted host key: ED25519 SHA256:…'),
    offeredHostKeyFingerprint: z
      .string()
      .nullable()
      .describe('Fingerprint of a different key that the host now presents; the mirror waits until it is accepted'),
    intervalMs: z.int().nullable().describe('Null for a one-time import'),
    prune: z.boolean(),
    releases: z.boolean().describe('Whether a pull mirror includes releases with notes and files'),
    failures: z.int(),
    lastError: z.string().nullable(),
    lastOkAt: time.nullable(),
    nextAt: time.nullable().describe('Null while paused'),
  })
  .meta({ id: 'Mirror' });
export const hostKeyAcceptance = z
  .strictObject({ fingerprint: z.string().max(200).describe('Value of offeredHostKeyFingerprint, after comparing it') })
  .meta({ id: 'HostKeyAcceptance' });
export const mirrorInput = z
  .strictObject({
    ...mirrorSaid,
    username: z.string().optional(),
    secret: z.string().max(500).optional().describe('If omitted, the current secret is kept unless the host changes'),
    newKey: z.boolean().optional().describe('Generates a new key pair for an SSH mirror'),
    intervalMs: z.int().optional().describe('Defaults to eight hours'),
    prune: z.boolean().optional().describe('Whether to delete refs that were deleted at the source; defaults to true'),
    releases: z
      .boolean()
      .optional()
      .describe('Whether a pull mirror over HTTP includes releases with notes and files; defaults to false'),
  })
  .meta({ id: 'MirrorInput' });

export const collaborator = z
  .strictObject({
    ...giteaUser.shape,
    displayName: z.string(),
    role: collaboratorRole,
    level: z
      .enum(['none', 'read', 'write', 'admin'])
      .describe('Effective permissions; an organisation can grant more than the role'),
    since: time,
  })
  .meta({ id: 'Collaborator' });

export const person = z
  .strictObject({
    ...giteaUser.shape,
    email: z
      .string()
      .describe('Primary address for the user themselves, the public address for others; otherwise empty'),
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
    hasSecondFactor: z.boolean().describe('Whether password sign-in requires a second factor'),
  })
  .meta({ id: 'Me' });

export const email = z
  .strictObject({ email: z.string(), verified: z.boolean(), primary: z.boolean(), username: z.string() })
  .meta({ id: 'Email' });

/** An SSH key in Gitea's form, with fields of our own at the end. */
export const sshKey = z
  .strictObject({
    id: z.int().describe('Derived from the UUID'),
    key: z.string().describe('Public key as a line of a .pub file'),
    url: z.string(),
    title: z.string(),
    fingerprint: z.string(),
    created_at: time,
    last_used_at: time.nullable(),
    user: giteaUser,
    read_only: z.literal(false).describe('Always false: a user’s key has the user’s own permissions'),
    key_type: z.literal('user'),
    uuid: z.uuid(),
    type: z.string(),
    uses: z.enum(sshKeyUses).describe('Allowed uses'),
    worksWithBuiltInServer: z.boolean(),
    createdAt: time,
    lastUsedAt: time.nullable(),
  })
  .meta({ id: 'SshKey' });

/** In Gitea's form, for its clients. */
export const gpgKey = z
  .strictObject({
    id: z.int().describe('Derived from the UUID'),
    uuid: z.uuid(),
    primary_key_id: z.literal('').describe('Always empty: subkeys are listed with their key'),
    key_id: z.string(),
    public_key: z.string(),
    fingerprint: z.string(),
    algorithm: z.string(),
    user_ids: z.array(z.string()),
    emails: z.array(z.strictObject({ email: z.string(), verified: z.boolean() })),
    subkeys: z.array(z.strictObject({ key_id: z.string(), fingerprint: z.string() })).describe('Subkeys that can sign'),
    can_sign: z.boolean(),
    can_encrypt_comms: z.literal(false),
    can_encrypt_storage: z.literal(false),
    can_certify: z.boolean(),
    verified: z.boolean(),
    revoked: z.boolean(),
    created_at: time.describe('Creation time of the key'),
    expires_at: time.nullable(),
    added_at: time,
  })
  .meta({ id: 'GpgKey' });

const repositoryNames = z.array(z.string().describe('owner/name'));
export const accessToken = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    ending: z.string().describe('Last four characters'),
    access: scope,
    repositories: repositoryNames.nullable().describe('Null means all repositories'),
    createdAt: time,
    expiresAt: time.nullable(),
    lastUsedAt: time.nullable(),
  })
  .meta({ id: 'AccessToken' });
export const madeAccessToken = z
  .strictObject({ ...accessToken.shape, secret: z.string().describe('Shown only in this response') })
  .meta({ id: 'MadeAccessToken' });
export const newAccessToken = z
  .strictObject({
    name: z.string(),
    access: scope,
    repositories: repositoryNames
      .min(1)
      .max(100)
      .nullable()
      .optional()
      .describe('Omit or set to null for all repositories'),
    expiresAt: z.iso.datetime().nullable().optional().describe('Omit or set to null for a token that never expires'),
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
export const numberedPage = z
  .int()
  .min(0)
  .max(10_000)
  .default(0)
  .describe('Page number counted from 1, as an alternative to after');
export const paging = {
  limit: z.int().min(1).max(100).default(30).describe('Results per page'),
  after: z.string().max(500).optional().describe('Cursor from the previous page’s Link header'),
};

/** The id in `after` for a list sorted by id; null if omitted. Throws `invalid_page`. */
export function idBefore(after: string | undefined): number | null {
  if (after === undefined) return null;
  if (!/^\d{1,15}$/.test(after)) throw invalid('invalid_page', 'This page address is not valid.', { field: 'after' });
  return Number(after);
}
