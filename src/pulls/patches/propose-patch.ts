import { allows, personIdOf, refusalInRepository, repositoryLevel } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { baseCommitOf, splitMails } from '../../git/index.ts';
import type { AppliedPatch, PatchRequest } from '../../git/index.ts';
import { refusalError } from '../../issues/index.ts';
import type { RepositoryAt } from '../../issues/index.ts';
import { conflict, forbidden, invalid, notFound, unavailable } from '../../kernel/index.ts';
import { parseFilePath } from '../../repositories/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { pullInWrite, requireOpen } from '../find-pull.ts';
import { limits } from '../limits.ts';
import { defaultDescription } from '../pushes/default-description.ts';
import { withTemplate } from '../pushes/record-pushed-round.ts';
import { refuseRound } from '../pushes/refuse-push.ts';
import { isBeingPushedTo, pullByNumber } from '../pushes/choose-pull.ts';
import type { KnownPull } from '../pushes/choose-pull.ts';
import { contributedBytes, contributedTooMuch, isOverBudget } from '../rounds/contribution-quota.ts';
import { prepareNextRound } from '../rounds/prepare-next-round.ts';
import { publishHead } from '../rounds/publish-head.ts';
import { prepareRound, recordRound } from '../rounds/record-round.ts';
import { createPull, refuseTooMany } from '../lifecycle/open-pull.ts';

export interface ProposedPatch {
  /** Mails of `git format-patch`, or bare changes as from `git diff`. */
  patch: Buffer;
  /** Base branch; the default branch if omitted. */
  base?: string | undefined;
  /**
   * Title of the pull request; by default from the mails. Bare changes require one, because it becomes the subject of
   * their commit.
   */
  title?: string | undefined;
  body?: string | undefined;
  isDraft?: boolean | undefined;
  /** Number of the pull request to which the patch adds a round; if omitted, a new one is opened. */
  pull?: number | undefined;
}

/** A pull request with its new round. */
interface PatchedPull {
  number: number;
  round: number;
}

/**
 * Opens a pull request from a patch, or adds a round to one, like a push to `refs/for/<base>`: one commit per mail,
 * with its author and date and the viewer as committer, based on the commit that `git format-patch --base` names if the
 * base branch contains it, else on the tip of the base branch. All or nothing. Throws the errors of opening a pull
 * request, `base_missing`, `title_missing`, `patch_missing`, `patch_too_large`, `too_many_pulls`,
 * `contributed_too_much`, `repository_archived`, `disk_low`, `git_busy`, the errors of a push to that pull request, and
 * those of `applyPatch`.
 */
export async function proposePatch(
  deps: PullDeps,
  viewer: Viewer,
  at: RepositoryAt,
  proposed: ProposedPatch,
): Promise<PatchedPull> {
  const found = await deps.repositories.find(viewer, at.owner, at.name);
  const known = await judge(deps, viewer, found, proposed.pull);
  const baseBranch = known?.pull.baseBranch ?? (proposed.base?.trim() || found.repository.defaultBranch);
  const baseTip = await deps.git.refs.tip(found.path, `refs/heads/${baseBranch}`);
  if (baseTip === null)
    throw invalid('base_missing', `This repository has no branch named ${baseBranch}.`, { field: 'base' });
  const applied = await apply(deps, viewer, found, baseTip, proposed);
  const { oid } = applied;
  const submitterId = personIdOf(viewer);
  const seen = known === null ? [baseTip] : [baseTip, known.pull.headOid];
  const bytes = await contributedBytes(deps, found, { submitterId, headOid: oid, known: seen });
  if (bytes > (deps.contributedPushBytes ?? Infinity)) throw tooLarge();
  if (await isOverBudget(deps, found.repository.id, submitterId, bytes)) throw contributedTooMuch(deps);
  return known === null
    ? open(deps, viewer, found, proposed, { applied, baseBranch, baseTip, bytes })
    : addRound(deps, viewer, found, known, { oid, bytes });
}

const tooLarge = () =>
  invalid('patch_too_large', `A patch can be at most ${limits.proposedPatchBytes / 1024 ** 2} MiB. Push it instead.`, {
    field: 'patch',
  });

/** Checks permissions before anything is read. @returns the pull request that gets a round; null for a new one */
async function judge(
  deps: PullDeps,
  viewer: Viewer,
  found: Found,
  number: number | undefined,
): Promise<KnownPull | null> {
  const { repository } = found;
  const { facts } = await deps.issues.pulls.contextOf(deps.db.lookup, viewer, repository);
  const refusal = refusalInRepository(viewer, facts, 'contribute');
  if (number === undefined && refusal !== null) throw refusalError(refusal, 'PULL');
  const known = number === undefined ? null : await pullByNumber(deps.db.read, repository.id, number);
  if (number !== undefined && known === null)
    throw notFound('pull_not_found', `There is no pull request #${number} here.`);
  if (known !== null) refuseRound(viewer, facts, known);
  if (repository.archivedAt !== null)
    throw forbidden('repository_archived', 'This repository is archived and read-only.');
  if (known !== null && (await isBeingPushedTo(deps.db.read, repository.id, known.issue.number)))
    throw conflict('push_running', `A push to pull request #${number} is in progress. Try again when it has finished.`);
  if (known === null && !allows(repositoryLevel(viewer, facts), 'write')) await refuseTooMany(deps, viewer, found);
  return known;
}

async function apply(
  deps: PullDeps,
  viewer: Viewer,
  found: Found,
  baseTip: string,
  { patch, title = '', body = '' }: ProposedPatch,
): Promise<AppliedPatch> {
  if (patch.length > limits.proposedPatchBytes) throw tooLarge();
  if (patch.toString('latin1').trim() === '')
    throw invalid('patch_missing', 'This patch is empty. Paste a patch, or choose a patch file.', {
      field: 'patch',
    });
  const isDiff = splitMails(patch).kind === 'diff';
  if (isDiff && !/^(?:diff |--- |Index: )/m.test(patch.toString('latin1')))
    throw invalid('patch_missing', 'This is not a patch because no line starts with "diff" or "---".', {
      field: 'patch',
    });
  if (isDiff && title.trim() === '')
    throw invalid('title_missing', 'These changes have no message. Enter a title.', { field: 'title' });
  if (await deps.isDiskLow(found.path))
    throw unavailable('disk_low', 'The server is low on disk space. Read access still works.', {
      retryAfterSeconds: 600,
    });
  const people: PatchRequest['people'] = async (named) => {
    if (named === null) return deps.repositories.contents.people(viewer, {});
    const { name, email, at, offsetMinutes } = named;
    const author = { name, email, at: at ?? undefined };
    const made = await deps.repositories.contents.people(viewer, { author });
    return { ...made, author: { ...made.author, offsetMinutes } };
  };
  const subject = title.replaceAll(/\s+/g, ' ').trim();
  const message = body.trim() === '' ? subject : `${subject}\n\n${body.trim()}`;
  const onto = await startOf(deps, found.path, baseTip, baseCommitOf(patch));
  return deps.git.merges.applyPatch(found.path, { onto, patch, message, people, checkPath: parseFilePath });
}

/** Only a commit of the base branch: any other may be hidden, and the pull request would publish it. */
async function startOf({ git }: PullDeps, path: string, baseTip: string, named: string | null): Promise<string> {
  if (named === null || named === baseTip || named.length !== baseTip.length) return baseTip;
  return (await git.refs.isForward(path, named, baseTip)) ? named : baseTip;
}

async function open(
  deps: PullDeps,
  viewer: Viewer,
  found: Found,
  { title = '', body = '', isDraft = false }: ProposedPatch,
  {
    applied,
    baseBranch,
    baseTip,
    bytes,
  }: { applied: AppliedPatch; baseBranch: string; baseTip: string; bytes: number },
): Promise<PatchedPull> {
  const { oid, cover } = applied;
  const prepared = await prepareRound(deps, found.path, null, oid, baseTip);
  const topic = cover?.subject ?? null;
  const text = defaultDescription(prepared.commits, { topic, baseBranch });
  const said = await withTemplate(deps, found.path, cover?.body || text.body, baseTip);
  const { issue, pull } = await createPull(
    deps,
    viewer,
    found,
    { title: title.trim() || text.title, body: body.trim() === '' ? said : body },
    prepared,
    { baseBranch, isDraft, maintainersMayPush: false, source: 'PUSH', origin: { bytes } },
  );
  return { number: issue.number, round: pull.lastRound };
}

async function addRound(
  deps: PullDeps,
  viewer: Viewer,
  found: Found,
  { issue, pull }: KnownPull,
  { oid, bytes }: { oid: string; bytes: number },
): Promise<PatchedPull> {
  const prepared = await prepareNextRound(deps, found, pull, oid);
  const patched = await deps.issues.pulls.write(viewer, async (log) => {
    const now = await pullInWrite(deps, log.tx, viewer, issue, 'add_round');
    requireOpen(now);
    const origin = { submitterId: personIdOf(viewer), pushId: null, bytes };
    await recordRound(log, now.issue, now.pull, prepared, origin);
    return { number: issue.number, round: now.pull.lastRound };
  });
  await publishHead(deps, found.path, { ...pull, headOid: oid, number: issue.number });
  deps.mergeStates.add([issue.id]);
  return patched;
}
