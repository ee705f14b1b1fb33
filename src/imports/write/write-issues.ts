import { eachLimit, isDomainError, isRefusal } from '../../kernel/index.ts';
import type { FollowedIssue } from '../../issues/index.ts';
import type { PullFile } from '../../pulls/index.ts';
import { importLimits } from '../limits.ts';
import { openPeopleBook } from '../context/people-book.ts';
import { fingerprintsOf } from '../context/fingerprints.ts';
import type { RunContext } from '../context/run-context.ts';
import { itemSchema, stagedSchema } from '../schema/import-schema.ts';
import type { SourceComment, SourceIssue, SourcePerson, SourcePull, SourceReviews } from '../sources/source.ts';
import { filesOfIssue, noteFiles } from '../files/fetch-files.ts';
import { buildIssue, peopleOfIssue } from './build-issue.ts';
import { fingerprintOf } from './fingerprint.ts';
import { buildPull, peopleOfPull } from './build-pull.ts';

/** Limit of concurrent requests per issue; the budget of its host also applies. */
const atOnce = 4;
/** Numbers read at once: the whole conversation of each is fetched separately. */
const numbersPerPage = 500;

/** An issue ready for writing, with the digest of the source's data. */
interface Ready {
  item: FollowedIssue;
  pull: PullFile | null;
  fingerprint: string;
  files: ReturnType<typeof filesOfIssue>;
}

/**
 * Writes the staged issues one after the other, requesting comments, reviews and reactions that the lists do not
 * contain. Skips issues that have not changed since the last run.
 */
export async function writeIssues(context: RunContext): Promise<void> {
  const { deps } = context;
  for (;;) {
    const numbers = await stagedNumbers(context);
    if (numbers.length === 0) return;
    let batch: Ready[] = [];
    let begunAt = deps.clock.now();
    for (const [at, number] of numbers.entries()) {
      context.signal.throwIfAborted();
      const ready = await prepareOrTell(context, number);
      if (ready === 'unchanged') context.progress.unchanged += 1;
      else if (ready !== null) batch.push(ready);
      const entries = batch.reduce((sum, { item }) => sum + item.issue.entries.length, 0);
      const isFull = entries >= importLimits.entriesPerWrite || batch.length >= importLimits.issuesPerWrite;
      const isLate = deps.clock.now() - begunAt >= importLimits.msPerWrite;
      if (!isFull && !isLate && at < numbers.length - 1) continue;
      begunAt = deps.clock.now();
      await writeBatch(context, batch);
      const last = number;
      const written = context.progress.written + batch.length;
      const done = batch;
      batch = [];
      await context.save(
        { progress: { number: last, written, hasChanges: context.progress.hasChanges || done.length > 0 } },
        async ({ manager }) => {
          for (const { item, fingerprint, files } of done) {
            await manager.upsert(
              itemSchema,
              { importId: context.row.id, item: `issue:${item.issue.number}`, fingerprint },
              ['importId', 'item'],
            );
            const plan = { dueOn: item.issue.dueOn ?? null, ref: item.issue.ref ?? '' };
            if (JSON.stringify(plan) !== JSON.stringify(item.planBefore))
              await manager.upsert(
                itemSchema,
                {
                  ...{ importId: context.row.id, item: planItem(item.issue.number) },
                  fingerprint: JSON.stringify(plan),
                },
                ['importId', 'item'],
              );
            await noteFiles(context, manager, files);
          }
          await manager.query('DELETE FROM import_staged WHERE import_id = ? AND number <= ?', [context.row.id, last]);
        },
      );
    }
  }
}

const planItem = (number: number): string => `plan:${number}`;
const headItem = (number: number): string => `ref:refs/pull/${number}/head`;

/** Due date and branch there, as an earlier run has written them. */
const readPlan = (text: string | undefined): FollowedIssue['planBefore'] =>
  text === undefined ? { dueOn: null, ref: '' } : (JSON.parse(text) as FollowedIssue['planBefore']);

async function stagedNumbers({ deps, row }: RunContext): Promise<number[]> {
  const rows: { number: number }[] = await deps.db.read.query(
    'SELECT DISTINCT number FROM import_staged WHERE import_id = ? ORDER BY number LIMIT ?',
    [row.id, numbersPerPage],
  );
  return rows.map(({ number }) => Number(number));
}

/** One that the source cannot answer, however often it is asked, must not hold up all that come after it. */
async function prepareOrTell(context: RunContext, number: number): ReturnType<typeof prepare> {
  try {
    return await prepare(context, number);
  } catch (error) {
    if (!(await context.mayLeaveOut(error))) throw error;
    context.tell(`#${number}`, `did not come: ${(error as Error).message}`);
    return null;
  }
}

/** Null for an issue that cannot be written, with a line in the report. */
async function prepare(context: RunContext, number: number): Promise<Ready | 'unchanged' | null> {
  const { deps, row, source, located, options, tell } = context;
  const staged = await deps.db.read.findBy(stagedSchema, { importId: row.id, number });
  const of = <T>(kind: string): T[] =>
    staged.filter((each) => each.kind === kind).map(({ data }) => JSON.parse(data) as T);
  const issue = of<SourceIssue>('issue')[0] ?? (await source.issue(number));
  // One that was transferred is answered as it is in the other repository.
  if (issue === null || issue.number !== number) {
    tell(`#${number}`, 'has comments there, but cannot be read itself, or was moved elsewhere');
    return null;
  }
  const comments = [...of<SourceComment>('comment'), ...((await source.commentsOf?.(number)) ?? [])].sort(
    (a, b) => a.createdAt - b.createdAt || Number(a.id) - Number(b.id),
  );
  if (issue.isPull ? !options.withPulls : !options.withIssues) return null;
  const listed = of<SourcePull>('pull')[0];
  const found = !issue.isPull
    ? null
    : listed && !listed.isPart
      ? listed
      : ((await source.pull(number)) ?? listed ?? null);
  const none: SourceReviews = { reviews: [], comments: [] };
  const { reviews, comments: notes, answered = [] } = found === null ? none : await source.reviews(number);
  const isAsked = ({ login }: SourcePerson): boolean => !answered.includes(login);
  const before = await fingerprintsOf(context, [`issue:${number}`, planItem(number), headItem(number)]);
  // Gitea answers with the tip of the branch, which may have moved after the end: the ref has the last commit before.
  const lastHead = issue.isOpen ? undefined : before.get(headItem(number));
  const pull = found && {
    ...found,
    headOid: lastHead ?? found.headOid,
    requested: found.requested.filter(isAsked),
  };
  if (options.withReactions) await fetchReactions(context, issue, comments);

  const fingerprint = [
    fingerprintOf({ issue, pull, comments, reviews, notes }),
    ...(await assigneesHere(context, issue)),
    ...(await accountsHere(context, pull?.requested ?? [])),
  ].join(' ');
  if (before.get(`issue:${number}`) === fingerprint) return 'unchanged';

  context.renew(`#${number}`);
  const now = deps.clock.now();
  const people = await openPeopleBook(deps, row.host, [
    ...peopleOfIssue(issue, comments),
    ...(pull === null ? [] : peopleOfPull({ pull, reviews, comments: notes })),
  ]);
  const about = (problem: string): void => tell(`#${number}`, problem);
  const { id: repositoryId } = located.repository;
  const place = { repositoryId, path: located.path, now, tell: about };
  const built = pull === null ? null : await buildPull(deps, { issue, pull, reviews, comments: notes }, people, place);
  if (issue.isPull && built === null) about('the commits of this pull request are gone; its talk came as an issue');
  const whole = buildIssue(
    {
      issue: built === null ? { ...issue, isPull: false } : issue,
      comments,
      more: built?.entries ?? [],
      isMerged: built !== null && built.file.mergedAt !== null,
    },
    people,
    { host: row.host, now, tell },
  );
  if (built !== null) {
    const positions = new Map(whole.entries.map(({ origin, position }) => [origin, position]));
    for (const review of built.file.reviews) review.position = positions.get(`review:${review.id}`) ?? null;
  }
  const files = filesOfIssue(context, { issue, comments, reviews, notes });
  const planBefore = readPlan(before.get(planItem(number)));
  return {
    item: { issue: whole, isWhole: row.isFull && !context.progress.isPartial, planBefore },
    pull: built?.file ?? null,
    fingerprint,
    files,
  };
}

/** Accounts of those who are asked for a review: as for assignees, a claim in between makes it another pull request. */
async function accountsHere({ deps, row }: RunContext, requested: readonly SourcePerson[]): Promise<string[]> {
  if (requested.length === 0) return [];
  const people = await openPeopleBook(deps, row.host, requested);
  return requested.flatMap((each) => people.of(each)?.id ?? []).sort();
}

/** Accounts of those who work on it: a claim in between makes it another issue, which a full run writes again. */
async function assigneesHere({ deps, row, tell }: RunContext, { assignees }: SourceIssue): Promise<string[]> {
  if (assignees.length === 0) return [];
  const people = await openPeopleBook(deps, row.host, assignees);
  return assignees.flatMap((each) => {
    const { id, name } = people.of(each)!;
    if (id === undefined)
      tell('to do', `Say who ${name} is, and run it in full: issues are assigned to accounts of this server alone.`);
    return id ?? [];
  });
}

async function fetchReactions({ source }: RunContext, issue: SourceIssue, comments: SourceComment[]): Promise<void> {
  issue.reactions ??= await source.reactions(issue.number, null);
  await eachLimit(
    comments.filter(({ reactions }) => reactions === null),
    atOnce,
    async (comment) => {
      comment.reactions = await source.reactions(issue.number, comment.id);
    },
  );
}

/** One write for all; if it fails, one write each, so that one invalid issue does not block the others. */
async function writeBatch(context: RunContext, batch: readonly Ready[]): Promise<void> {
  if (batch.length === 0) return;
  try {
    await write(context, batch);
  } catch (error) {
    if (context.signal.aborted || !isOfOneItem(error)) throw error;
    // In the trash it takes none of them, and the run is over.
    await context.at();
    for (const one of batch)
      try {
        await write(context, [one]);
      } catch (reason) {
        if (!isOfOneItem(reason)) throw reason;
        context.deps.logger.warn('import.issue_not_written', {
          importId: context.row.id,
          number: one.item.issue.number,
          error: reason,
        });
        const why = isRefusal(reason) ? reason.message : 'this server failed';
        context.tell(`#${one.item.issue.number}`, `was not written: ${why}`);
      }
  }
}

/** A full disk or a closed database blocks all writes. */
const isOfOneItem = (error: unknown): boolean =>
  !/SQLITE_(?:FULL|IOERR|BUSY|LOCKED)|disk|closed/i.test(error instanceof Error ? error.message : '') &&
  !(isDomainError(error) && error.code === 'unavailable');

async function write(context: RunContext, batch: readonly Ready[]): Promise<void> {
  const { deps, located, tell } = context;
  const files = new Map(batch.flatMap(({ item, pull }) => (pull === null ? [] : [[item.issue.number, pull] as const])));
  const read = async (number: number) => ({ pull: files.get(number)!, isOwn: true });
  const importer = await deps.pulls.portable.importer(located.path, { read }, true);
  const items = batch.map(({ item }) => item);
  for (const { number, result, conflicts } of await deps.issues.followed.write(located.repository, items, importer)) {
    if (result === 'taken') tell(`#${number}`, 'the number is another issue here; the one there did not come');
    if (result === 'removed') tell(`#${number}`, 'was deleted or moved away here and did not come again');
    for (const conflict of conflicts) tell(`#${number}`, conflict);
  }
}
