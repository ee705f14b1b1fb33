import type { Viewer } from '../../access/index.ts';
import { conflict, invalid, isDomainError, notFound } from '../../kernel/index.ts';
import { parseBranchName } from '../branch-name.ts';
import { findRepository } from '../find-repository.ts';
import type { Found, RepositoryAddress } from '../find-repository.ts';
import type { RepositoryDeps } from '../deps.ts';
import type { AppliedPush, ServerPush } from './apply-updates.ts';
import { moveRef } from './change-branches.ts';

type Apply = (found: Pick<Found, 'repository' | 'path'>, push: ServerPush) => Promise<AppliedPush>;

const tags = 'refs/tags/';
const maxMessageBytes = 65_536;

export interface NewTag {
  name: string;
  /** A branch, a tag or a commit. */
  from: string;
  /** Creates an annotated tag, signed by the server; '' for a lightweight one. */
  message?: string | undefined;
}

/** A tag as its ref names it. */
interface MadeTag {
  name: string;
  /** The tag object of an annotated tag, else the commit. */
  oid: string;
  commit: string;
}

/**
 * Creates a tag at a branch, another tag or a commit, as an ordinary push. Throws `repository_not_found` without write
 * access; `invalid_tag_name`, `tag_exists`, `tag_in_the_way` with the field `name`; `start_not_found` with the field
 * `from`; `tag_message_too_long`; `branch_protected` by a rule, `repository_archived`, `push_refused`.
 */
export async function createTag(
  deps: RepositoryDeps,
  apply: Apply,
  viewer: Viewer,
  at: RepositoryAddress,
  { name: wanted, from, message = '' }: NewTag,
): Promise<MadeTag> {
  const found = await findRepository(deps, viewer, at, 'write');
  const name = parseTagName(wanted);
  if (Buffer.byteLength(message) > maxMessageBytes)
    throw invalid('tag_message_too_long', 'A tag message can be at most 64 KiB.', { field: 'message' });
  const commit = await deps.git.refs.resolve(found.path, from).catch((error: unknown) => {
    if (!isDomainError(error) || error.code !== 'not_found') throw error;
    throw invalid('start_not_found', 'There is no branch, tag or commit with this name.', { field: 'from' });
  });
  if ((await deps.git.refs.tip(found.path, tags + name)) !== null)
    throw conflict('tag_exists', `A tag named ${name} already exists.`, { field: 'name' });
  const oid = message.trim() === '' ? commit : await annotate(deps, viewer, found, { name, commit, message });
  const update = { ref: tags + name, oldId: '0'.repeat(oid.length), newId: oid };
  const [result] = await moveRef(deps, apply, viewer, found, update, { field: 'name' });
  if (result?.ok !== true)
    throw conflict('tag_in_the_way', `git could not create ${name} because the name conflicts with another tag.`, {
      field: 'name',
    });
  return { name, oid, commit };
}

async function annotate(
  { git, clock, committer }: RepositoryDeps,
  viewer: Viewer,
  { path }: Found,
  { name, commit, message }: { name: string; commit: string; message: string },
): Promise<string> {
  const tagger = { ...(await committer.identityOf(viewer)), at: clock.now(), offsetMinutes: 0 };
  return git.merges.writeTag(path, { target: commit, name, tagger, message, sign: committer.sign });
}

/** Validates a tag name by git's rules for refs. Throws `invalid_tag_name`. */
export function parseTagName(text: string): string {
  try {
    return parseBranchName(text.trim());
  } catch (cause) {
    throw invalid('invalid_tag_name', 'git does not accept this tag name.', { field: 'name', cause });
  }
}

/**
 * Deletes a tag unless it moved since the user saw it. Its object is preserved for a while, and `undo` restores it.
 * Throws `repository_not_found` without write access, `tag_gone`, `tag_moved`, `branch_protected` by a rule,
 * `repository_archived`, `push_refused`.
 * @param tag its `expected` is the id that its ref named
 */
export async function deleteTag(
  deps: RepositoryDeps,
  apply: Apply,
  viewer: Viewer,
  at: RepositoryAddress,
  { name, expected }: { name: string; expected: string },
): Promise<void> {
  const found = await findRepository(deps, viewer, at, 'write');
  const oldId = await deps.git.refs.tip(found.path, tags + name);
  if (oldId === null) throw notFound('tag_gone', 'There is no such tag.');
  const moved = conflict('tag_moved', `${name} has changed. Check it before you delete it.`);
  if (oldId !== expected) throw moved;
  const update = { ref: tags + name, oldId, newId: '0'.repeat(oldId.length) };
  const [result] = await moveRef(deps, apply, viewer, found, update);
  if (result?.ok !== true) throw moved;
}
