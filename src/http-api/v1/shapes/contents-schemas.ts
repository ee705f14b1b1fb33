import { z } from 'zod';
import { commitMeta, commitUser, giteaCommit, verification } from './commits-schemas.ts';
import { changedFile } from './pulls-schemas.ts';

/** The shapes of files, trees and refs: those of Gitea's API. */

const oid = z.string().describe('Full git object ID');
const address = z.string().nullable();

export const contents = z
  .strictObject({
    name: z.string(),
    path: z.string(),
    sha: oid,
    type: z.enum(['file', 'dir', 'symlink', 'submodule']),
    size: z.int(),
    last_commit_sha: z.string().nullable().describe('Commit that last changed it; null in folder listings'),
    encoding: z.literal('base64').nullable(),
    content: z.string().nullable().describe('Null in folder listings and for content larger than 2 MiB'),
    target: z.string().nullable().describe('Target of a symbolic link'),
    url: address,
    html_url: address,
    git_url: address,
    download_url: address,
    submodule_git_url: z.null(),
    _links: z.strictObject({ self: address, git: address, html: address }),
  })
  .meta({ id: 'Contents' });

const fileCommit = z
  .strictObject({
    ...commitMeta.shape,
    html_url: z.string(),
    author: commitUser,
    committer: commitUser,
    parents: z.array(commitMeta),
    message: z.string(),
    tree: commitMeta,
  })
  .meta({ id: 'FileCommit' });
const afterChange = { commit: fileCommit, verification };
export const fileResponse = z
  .strictObject({ content: contents.nullable(), ...afterChange })
  .meta({ id: 'FileResponse' });
export const filesResponse = z
  .strictObject({ files: z.array(contents.nullable()).describe('Null for a deleted file'), ...afterChange })
  .meta({ id: 'FilesResponse' });

const identity = z
  .object({ name: z.string().max(255).nullish(), email: z.string().max(255).nullish() })
  .nullish()
  .describe('Defaults to the caller');
const fileOptions = {
  message: z.string().nullish().describe('Defaults to a description of the change'),
  branch: z.string().max(255).nullish().describe('Defaults to the default branch'),
  new_branch: z.string().max(255).nullish().describe('New branch to commit to, created from `branch`'),
  author: identity.describe('With an address other than the caller’s, the commit is not signed'),
  committer: identity.describe('The email address must belong to the caller'),
  dates: z
    .object({
      author: z.iso.datetime({ offset: true }).nullish(),
      committer: z.iso.datetime({ offset: true }).nullish(),
    })
    .nullish(),
  signoff: z.boolean().nullish().describe('Adds a Signed-off-by trailer'),
};
const content = z.string().describe('Content in base64');
const sha = z.string().max(64).describe('ID of the blob to change; a different blob is rejected with 409');
export const newFile = z.object({ ...fileOptions, content }).meta({ id: 'NewFile' });
export const fileUpdate = z
  .object({
    ...fileOptions,
    content,
    sha: sha.nullish(),
    from_path: z.string().max(4096).nullish().describe('Current path of a file to rename'),
  })
  .meta({ id: 'FileUpdate' });
export const diffPatch = z
  .object({ ...fileOptions, content: z.string().describe('Output of git diff or git format-patch') })
  .meta({ id: 'DiffPatch' });
export const fileDeletion = z.object({ ...fileOptions, sha }).meta({ id: 'FileDeletion' });
export const filesChange = z
  .object({
    ...fileOptions,
    files: z
      .array(
        z.object({
          operation: z.enum(['create', 'update', 'upload', 'rename', 'delete']),
          path: z.string().max(4096),
          content: content.nullish(),
          sha: sha.nullish(),
          from_path: z.string().max(4096).nullish(),
        }),
      )
      .max(300),
  })
  .meta({ id: 'FilesChange' });
export type FileOptions = Omit<z.output<typeof newFile>, 'content'>;

export const comparison = z
  .strictObject({ total_commits: z.int(), commits: z.array(giteaCommit), files: z.array(changedFile) })
  .meta({ id: 'Comparison' });

export const gitTree = z
  .strictObject({
    sha: oid,
    url: z.string(),
    tree: z.array(
      z.strictObject({
        path: z.string(),
        mode: z.string(),
        type: z.enum(['tree', 'blob', 'commit']),
        size: z.int(),
        sha: oid,
        url: z.string(),
      }),
    ),
    truncated: z.boolean(),
    page: z.int(),
    total_count: z.int(),
  })
  .meta({ id: 'GitTree' });
export const gitBlob = z
  .strictObject({
    content: z.string().nullable().describe('Null if larger than 2 MiB'),
    encoding: z.literal('base64').nullable(),
    url: z.string(),
    sha: oid,
    size: z.int(),
  })
  .meta({ id: 'GitBlob' });
export const reference = z
  .strictObject({
    ref: z.string(),
    url: z.string(),
    object: z.strictObject({ type: z.enum(['commit', 'tag']), sha: oid, url: z.string() }),
  })
  .meta({ id: 'Reference' });
export const blame = z
  .strictObject({
    sha: oid.describe('Requested commit'),
    path: z.string(),
    ranges: z.array(
      z.strictObject({
        first_line: z.int(),
        last_line: z.int(),
        commit: z.strictObject({ sha: oid, html_url: z.string(), message: z.string(), author: commitUser }),
        previous: z
          .strictObject({ sha: oid, path: z.string() })
          .nullable()
          .describe('Null if this commit added the lines'),
      }),
    ),
  })
  .meta({ id: 'Blame' });
