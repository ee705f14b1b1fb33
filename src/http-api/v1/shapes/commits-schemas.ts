import { z } from 'zod';
import { giteaUser } from './issues-schemas.ts';

/** The shapes of commits: those of Gitea's API, with fields of our own. */

const time = z.iso.datetime().describe('ISO 8601, UTC');
export const objectId = z
  .string()
  .regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/)
  .describe('Full git object ID');

const identity = z.strictObject({ name: z.string(), email: z.string(), username: z.string() });

/** Verification of a commit signature, in Gitea's form. */
export const verification = z
  .strictObject({
    verified: z.boolean(),
    reason: z.string(),
    signature: z.string(),
    payload: z.string(),
    signer: identity.nullable(),
  })
  .meta({ id: 'CommitVerification' });

export const commitUser = z.strictObject({
  name: z.string(),
  email: z.string(),
  date: z.iso.datetime({ offset: true }).describe('ISO 8601, in the commit’s time zone'),
});
export const commitMeta = z.strictObject({ url: z.string(), sha: objectId, created: time });

/** A commit of a webhook or a branch. */
export const payloadCommit = z.strictObject({
  id: objectId,
  message: z.string(),
  url: z.string(),
  author: identity,
  committer: identity,
  verification,
  timestamp: time,
  added: z.null(),
  removed: z.null(),
  modified: z.null(),
});

export const giteaCommit = z
  .strictObject({
    ...commitMeta.shape,
    html_url: z.string(),
    commit: z.strictObject({
      url: z.string(),
      author: commitUser,
      committer: commitUser,
      message: z.string(),
      tree: commitMeta,
      verification: verification.nullable().describe('Null if not requested'),
    }),
    author: giteaUser.nullable().describe('Account with the commit’s email address'),
    committer: giteaUser.nullable(),
    parents: z.array(commitMeta),
    files: z
      .array(z.strictObject({ filename: z.string(), status: z.enum(['added', 'removed', 'modified']) }))
      .nullable()
      .describe('Files changed since the first parent, at most 3,000; null in lists'),
    stats: z
      .strictObject({ total: z.int(), additions: z.int(), deletions: z.int() })
      .nullable()
      .describe('Changed lines in these files; null in lists'),
  })
  .meta({ id: 'GiteaCommit' });

/** Author or committer, and the account with that e-mail address. */
const signature = z
  .strictObject({
    ...commitUser.shape,
    ...giteaUser.pick({ id: true, full_name: true, avatar_url: true, html_url: true }).shape,
    login: z.string().nullable(),
    username: z.string().nullable().describe('User who owns the verified or no-reply address'),
  })
  .meta({ id: 'Signature' });

export const commit = z
  .strictObject({
    ...giteaCommit.shape,
    author: signature,
    committer: signature,
    id: objectId,
    tree: objectId,
    message: z.string(),
    verification: z
      .strictObject({
        verified: z.boolean(),
        reason: z.string().describe('valid, unsigned, unknown_key, invalid, unverified_email …'),
        signer: z.string().nullable().describe('Username of the user who registered the key'),
        fingerprint: z.string().nullable(),
        signature: z.string().nullable(),
        payload: z.string().nullable().describe('Signed data'),
      })
      .describe('Verification result'),
  })
  .meta({ id: 'Commit' });
