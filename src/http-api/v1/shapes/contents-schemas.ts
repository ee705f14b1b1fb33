import { z } from 'zod';
import { commitMeta, commitUser, giteaCommit, verification } from './commits-schemas.ts';
import { changedFile } from './pulls-schemas.ts';

/** The shapes of files, trees and refs: those of Gitea's API. */

const oid = z.string().describe('Full id of a git object');
const address = z.string().nullable();

export const contents = z
  .strictObject({
    name: z.string(),
    path: z.string(),
    sha: oid,
    type: z.enum(['file', 'dir', 'symlink', 'submodule']),
    size: z.int(),
    last_commit_sha: z.string().nullable().describe('The commit that changed it last; null in the list of a folder'),
    encoding: z.literal('base64').nullable(),
    content: z.string().nullable().describe('Null in the list of a folder, and for what is larger than 2 MiB'),
    target: z.string().nullable().describe('Of a symbolic link'),
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
  .strictObject({ files: z.array(contents.nullable()).describe('Null for a deleted one'), ...afterChange })
  .meta({ id: 'FilesResponse' });

const identity = z
  .object({ name: z.string().max(255).nullish(), email: z.string().max(255).nullish() })
  .nullish()
  .describe('Left out: the caller');
const fileOptions = {
  message: z.string().nullish().describe('Left out: what the change does'),
  branch: z.string().max(255).nullish().describe('Left out: the default branch'),
  new_branch: z.string().max(255).nullish().describe('Commits to a new branch that begins at `branch`'),
  author: identity.describe('Another address than one of the caller leaves the commit unsigned'),
  committer: identity.describe('With an address of the caller'),
  dates: z
    .object({
      author: z.iso.datetime({ offset: true }).nullish(),
      committer: z.iso.datetime({ offset: true }).nullish(),
    })
    .nullish(),
  signoff: z.boolean().nullish().describe('Adds a Signed-off-by line'),
};
const content = z.string().describe('In base64');
const sha = z.string().max(64).describe('The blob that is to be changed: another one is refused with 409');
export const newFile = z.object({ ...fileOptions, content }).meta({ id: 'NewFile' });
export const fileUpdate = z
  .object({
    ...fileOptions,
    content,
    sha: sha.nullish(),
    from_path: z.string().max(4096).nullish().describe('Where the file is now, when it is to be renamed'),
  })
  .meta({ id: 'FileUpdate' });
export const diffPatch = z
  .object({ ...fileOptions, content: z.string().describe('As git diff or git format-patch write it') })
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
    content: z.string().nullable().describe('Null for more than 2 MiB'),
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
    sha: oid.describe('The commit that was asked for'),
    path: z.string(),
    ranges: z.array(
      z.strictObject({
        first_line: z.int(),
        last_line: z.int(),
        commit: z.strictObject({ sha: oid, html_url: z.string(), message: z.string(), author: commitUser }),
        previous: z.strictObject({ sha: oid, path: z.string() }).nullable().describe('Null where the lines were added'),
      }),
    ),
  })
  .meta({ id: 'Blame' });
