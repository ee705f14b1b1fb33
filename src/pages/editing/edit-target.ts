import { allows } from '../../access/index.ts';
import type { PersonViewer } from '../../access/index.ts';
import type { RefListing } from '../../git/index.ts';
import { explainRefusal } from '../../issues/index.ts';
import { forbidden, notFound, unauthenticated } from '../../kernel/index.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { resolveLocation } from '../code/resolve-location.ts';
import type { EditingDeps } from './deps.ts';

/** The possible targets of a change. */
export interface EditTarget {
  viewer: PersonViewer;
  branch: string;
  /** The current commit of the branch; null for a repository without commits. */
  tip: string | null;
  /** The path after the branch in the URL. */
  file: Buffer;
  /** Whether the viewer may commit to the branch itself. */
  mayPush: boolean;
  /** Whether they may commit to a new one; otherwise they propose the change by a pull request without a branch. */
  mayWrite: boolean;
  /** The pattern of the rule that protects the branch from them; null for none. */
  rule: string | null;
  /** Whether pull requests may be opened here. */
  takesPulls: boolean;
  /** An unused name for a new branch. */
  suggested: string;
}

/**
 * Reads the location of a change from the URL. Anonymous clients sign in first. Throws `revision_not_found` unless it
 * names a branch, `repository_archived`, `may_not_change` for users who may neither write nor open pull requests.
 */
export async function readEditTarget(context: RepositoryContext, deps: EditingDeps): Promise<EditTarget> {
  const { viewer, found } = context;
  if (viewer.kind !== 'person') throw unauthenticated('sign_in_required', 'Sign in to continue.');
  if (found.repository.archivedAt !== null)
    throw forbidden('repository_archived', 'This repository is archived and read-only.');
  const mayWrite = allows(found.level, 'write');
  const [head, refs] = await Promise.all([deps.git.refs.head(found.path), deps.git.queries.cachedRefs(found.path)]);
  const isEmpty = refs.count('refs/heads/') === 0;
  const at =
    isEmpty && mayWrite
      ? { kind: 'branch', ref: found.repository.defaultBranch, oid: null, file: Buffer.alloc(0) }
      : await resolveLocation(context, deps);
  if (at.kind !== 'branch' || (at.oid === null && head.oid !== null)) throw notFound();
  const [rights, may] = await Promise.all([
    deps.repositories.rules.rightsIn(viewer, found.repository),
    deps.issues.rightsIn(viewer, found.canonical, 'PULL'),
  ]);
  const refusal = may('contribute');
  if (!mayWrite && refusal !== null) throw forbidden('may_not_change', explainRefusal(refusal, 'PULL'));
  const ref = `refs/heads/${at.ref}`;
  const mayPush = mayWrite && rights.may(ref, isEmpty ? 'create' : 'push');
  return {
    viewer,
    branch: at.ref,
    tip: at.oid,
    file: at.file,
    mayPush,
    mayWrite,
    rule: mayWrite && !mayPush ? rights.patternOf(ref) : null,
    takesPulls: refusal === null,
    suggested: suggestBranch(refs, viewer.username ?? 'patch'),
  };
}

function suggestBranch(refs: RefListing, username: string): string {
  for (let number = 1; ; number += 1) {
    const name = `${username}-patch-${number}`;
    if (!refs.has(`refs/heads/${name}`)) return name;
  }
}
