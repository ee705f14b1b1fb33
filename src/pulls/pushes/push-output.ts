import { refusalInRepository } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { IncomingCommits } from '../../git/index.ts';
import type { PushTarget } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import { roundCommitSchema } from '../schema/round-schema.ts';
import type { PushForOptions } from './read-push-options.ts';
import type { KnownPull } from './choose-pull.ts';

/**
 * URL of a page of the pull requests. Without `base_url` it uses the host that the client connected to, or for SSH,
 * where the host is unknown, only a path.
 */
export function pullPageUrl(
  { baseUrl }: Pick<PullDeps, 'baseUrl'>,
  { canonical: { owner, name }, origin }: Pick<PushTarget, 'canonical' | 'origin'>,
  page: string,
): string {
  const at = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}/pulls/${page}`;
  const known = baseUrl ?? origin ?? null;
  return known === null ? `${at} on this server` : known + at;
}

interface AcceptedPush {
  number: number;
  /** Null for a new pull request. */
  known: KnownPull | null;
  headOid: string;
  arriving: IncomingCommits;
  options: PushForOptions;
}

/** Message to a user who has pushed to a pull request: its page, the round, and options without effect. */
export async function pushOutput(
  deps: PullDeps,
  viewer: Viewer,
  opened: PushTarget,
  { number, known, headOid, arriving, options }: AcceptedPush,
): Promise<string[]> {
  const page = pullPageUrl(deps, opened, String(number));
  const remarks = [`${known === null ? 'New pull request' : 'Pull request'} #${number}: ${page}`];
  if (known !== null)
    remarks.push(known.pull.headOid === headOid ? 'nothing new' : await describeRound(deps, opened, known, arriving));
  if (options.labels.length > 0) {
    const { facts } = await deps.issues.pulls.contextOf(deps.db.lookup, viewer, opened.repository);
    const mayLabel = refusalInRepository(viewer, facts, 'triage') === null;
    const there = mayLabel ? await deps.issues.listLabels(viewer, opened.canonical) : [];
    for (const label of options.labels) {
      if (!mayLabel) remarks.push(`label ${label}: only those who may write here set labels`);
      else if (!there.some(({ nameFolded }) => nameFolded === label.toLowerCase()))
        remarks.push(`label ${label}: there is no such label here`);
    }
  }
  return remarks;
}

/** `round 3: 2 commits, 1 changed, since round 2`; omits the counts unless the pack shows them. */
async function describeRound(
  deps: Pick<PullDeps, 'db' | 'git'>,
  { path }: Pick<PushTarget, 'path'>,
  { pull }: KnownPull,
  { commits, ends }: IncomingCommits,
): Promise<string> {
  const { issueId, lastRound, baseOid, baseBranch } = pull;
  const tip = (await deps.git.queries.cachedRefs(path)).get(`refs/heads/${baseBranch}`);
  const round = `round ${lastRound + 1}`;
  // The pack contains all commits of the round only if it is based on the base branch: other branches may have some of
  // them.
  const isWhole = commits.length > 0 && ends.every((end) => end === baseOid || end === tip);
  if (!isWhole || commits.length > limits.listedCommits) return `${round}, after round ${lastRound}`;
  const before = await deps.db.read.findBy(roundCommitSchema, { issueId, round: lastRound });
  const known = new Set(before.map(({ oid }) => oid));
  const changed = commits.filter((oid) => !known.has(oid)).length;
  const count = commits.length === 1 ? '1 commit' : `${commits.length} commits`;
  return `${round}: ${count}, ${changed === 0 ? 'none' : changed} new or changed since round ${lastRound}`;
}
