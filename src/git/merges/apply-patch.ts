import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { conflict, invalid, isDomainError } from '../../kernel/index.ts';
import { checked, readObject } from '../objects/browse.ts';
import type { Signature } from '../objects/parse-objects.ts';
import { commitPayload } from './commit-payload.ts';
import type { SignCommit } from './commit-payload.ts';
import { treeOf } from './merge-trees.ts';
import type { MergeWorkspace } from './merge-workspace.ts';
import { patchFaults } from './patch-faults.ts';
import { hasChanges, readMail } from './read-mail.ts';
import type { PatchMail } from './read-mail.ts';
import { splitMails } from './split-mails.ts';

export interface PatchRequest {
  /** The commit to which the patch is applied, a full id. */
  onto: string;
  /** Mails by `git format-patch`, or a plain diff. */
  patch: Buffer;
  /** Commit message for a plain diff. */
  message: string;
  /** Committer; null for a plain diff, which names no author. */
  people(
    author: PatchMail['author'] | null,
  ): Promise<{ author: Signature; committer: Signature; sign?: SignCommit | undefined }>;
  /** Throws if a commit may not contain the path. */
  checkPath(path: string): unknown;
}

export interface AppliedPatch {
  /** The newest commit. */
  oid: string;
  /** The first mail if it is a cover letter. */
  cover: { subject: string; body: string } | null;
}

/** Limits for one patch: mails, files that all of them change, and total time in milliseconds. */
const limits = { mails: 100, files: 3_000, totalMs: 30_000, checkedBytes: 1024 * 1024 };

const symlink = '120000';
const submodule = '160000';
const readByGit = new Set(['.gitmodules', '.gitattributes']);

/**
 * Creates one commit per mail of a patch, each on top of the previous one, with a separate index and no work tree.
 * Throws `bad_mail`, `no_changes`, `patch_conflict` with the files and lines that do not fit, `patch_link` for symbolic
 * links and submodules, `nothing_changed`, `invalid_git_file`, `patch_too_large` beyond the limits, and errors of
 * `checkPath`.
 */
export async function applyPatch(workspace: MergeWorkspace, request: PatchRequest): Promise<AppliedPatch> {
  const startedAt = performance.now();
  const text = splitMails(request.patch);
  const count = text.kind === 'mails' ? text.mails.length : 1;
  if (count > limits.mails) throw tooLarge(`at most ${limits.mails} mails`);
  let commit = checked(request.onto);
  let tree = await treeOf(workspace, commit);
  let files = 0;
  let cover: AppliedPatch['cover'] = null;
  await workspace.run(['read-tree', tree]);
  if (text.kind === 'diff') {
    if (!hasChanges(text.diff)) throw noChanges('The text has no changes in the format of git diff or diff -u.');
    const file = path.join(workspace.folder, 'patch');
    await writeFile(file, text.diff);
    await add({ file, message: request.message, author: null, label: 'The patch' });
    return { oid: commit, cover };
  }
  for (const [at, mail] of text.mails.entries()) {
    if (performance.now() - startedAt > limits.totalMs) throw tooLarge('less');
    const { file, subject, body, author, ...read } = await readMail(workspace, mail, at + 1);
    if (!read.hasChanges && at === 0 && count > 1) {
      cover = { subject, body: body.split(/^-- $/m, 1)[0]!.trim() };
      continue;
    }
    const label = count === 1 ? 'The patch' : `Mail ${at + 1} (“${subject.slice(0, 60)}”)`;
    if (!read.hasChanges) throw noChanges(`${label} has no changes.`);
    await add({ file, message: body === '' ? subject : `${subject}\n\n${body}`, author, label });
  }
  return { oid: commit, cover };

  async function add(one: { file: string; message: string; author: PatchMail['author'] | null; label: string }) {
    const { code, errorText } = await workspace
      .run(['apply', '--cached', '--whitespace=nowarn', one.file])
      .catch(asTooLarge);
    if (code !== 0) {
      const faults = patchFaults(errorText).join('; ') || 'git cannot read it';
      throw conflict('patch_conflict', `${one.label} cannot be applied: ${faults}.`, { field: 'patch' });
    }
    const written = (await workspace.run(['write-tree'])).output.toString('latin1').trim();
    if (written === tree) throw conflict('nothing_changed', `${one.label} changes nothing.`, { field: 'patch' });
    files += await checkFiles(workspace, tree, checked(written), request.checkPath);
    if (files > limits.files) throw tooLarge(`at most ${limits.files} files`);
    const { author, committer, sign } = await request.people(one.author);
    const payload = { tree: written, parents: [commit], author, committer, message: one.message };
    commit = await workspace.writeCommit(await commitPayload(payload, sign));
    tree = written;
  }
}

const tooLarge = (most: string) =>
  invalid('patch_too_large', `This patch is too large. Hearth can apply at most ${most}. Push it instead.`, {
    field: 'patch',
  });

const noChanges = (message: string) => invalid('no_changes', message, { field: 'patch' });

/** The patch exceeds git's limit of time or memory. */
function asTooLarge(error: unknown): never {
  throw isDomainError(error) && error.code === 'internal' ? tooLarge('less') : error;
}

/** Checks a mail's changes as parsed by git. @returns the number of files */
async function checkFiles(
  workspace: MergeWorkspace,
  before: string,
  after: string,
  checkPath: (path: string) => unknown,
): Promise<number> {
  const { output } = await workspace
    .run(['diff-tree', '-r', '-z', '--raw', '--no-renames', before, after])
    .catch(asTooLarge);
  const parts = output.toString('utf8').split('\0');
  let files = 0;
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [, mode = '', , oid = '', status] = parts[at]!.split(' ');
    const name = parts[at + 1]!;
    files += 1;
    if (status === 'D') continue;
    if (mode === symlink || mode === submodule)
      throw invalid(
        'patch_link',
        `${name} is a ${mode === symlink ? 'symbolic link' : 'submodule'}: a patch cannot contain one. Push it instead.`,
        { field: 'patch' },
      );
    checkPath(name);
    const last = name.slice(name.lastIndexOf('/') + 1).toLowerCase();
    if (!readByGit.has(last)) continue;
    const { content } = await workspace.read((reader) => readObject(reader, oid, 'blob', limits.checkedBytes));
    const fault = await workspace.checkBlob(last, Buffer.from(content), oid.length);
    if (fault !== null)
      throw invalid('invalid_git_file', `git does not accept this ${last}: ${fault}.`, { field: 'patch' });
  }
  return files;
}
