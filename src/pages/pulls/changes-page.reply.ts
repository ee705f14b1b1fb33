import { notFound } from '../../kernel/index.ts';
import type { RoundRow } from '../../pulls/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { encodePath } from '../app/code-urls.ts';
import { viewName } from '../app/plain-text.ts';
import { page } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { viewRepositoryHead } from '../app/repository-head.view.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { viewCount } from '../app/sizes.ts';
import { changesAddress, changesUrl, pullAt, readChangesQuery, urlOfPull } from './changes-address.ts';
import type { ChangesAddress, ChangesQuery } from './changes-address.ts';
import type { ChangesDeps } from './changes-deps.ts';
import { fileAnchor, viewFiles } from './changed-files.view.ts';
import { readChanges } from './read-changes.ts';
import type { ReadChanges } from './read-changes.ts';
import { viewPairs, viewRound, viewRoundChoice } from './rounds.view.ts';

const maxListed = 300;

/** The page of changes of a pull request. Refuses `pull_not_found`, `round_not_found`, `git_busy`. */
export async function changesPage(context: RepositoryContext, deps: ChangesDeps): Promise<PageReply> {
  const { found, viewer } = context;
  const { pulls, clock } = deps;
  const at = pullAt(context);
  const query = readChangesQuery(context);
  const [{ issue, pull }, rounds, rights] = await Promise.all([
    pulls.find(viewer, at),
    pulls.rounds.list(viewer, at),
    pulls.rightsOn(viewer, at),
  ]);
  const url = urlOfPull(context);
  const address = changesAddress(changesUrl(url), query);
  const chosen = chooseRounds(rounds, query);
  const changes = await readChanges(context, deps, query, chosen);
  const mayComment = rights('review') === null && chosen.older === null;
  const { files, hidden } = await viewFiles(context, deps, changes, {
    query,
    address,
    mayComment,
    belowOf: () => () => [],
  });
  const now = clock.now();
  return page('pulls/changes', {
    repository: viewRepositoryHead(found),
    pull: { url, number: issue.number, title: viewName(issue.title), state: issue.state, isDraft: pull.isDraft },
    round: viewRound(chosen.shown, now),
    choice: viewRoundChoice(rounds, chosen, null, { query, address }),
    comparison:
      chosen.older && (await viewComparison(context, deps, { ...chosen, older: chosen.older }, changes, address)),
    summary: viewSummary(changes),
    list: changes.files.slice(0, maxListed).map((file) => ({
      path: viewName(file.newPath.toString()),
      url: linkTo(file.newPath, files, address),
      status: file.status,
      added: file.added,
      removed: file.removed,
    })),
    unlisted: Math.max(0, changes.files.length - maxListed),
    files,
    hidden,
    cutShort: changes.cutShort,
    look: query.look,
    ignoreWhitespace: query.ignoreWhitespace,
    isOneFile: query.only !== null,
    isUnknownFile: query.only !== null && files.length === 0,
    loadAll:
      query.only === null && !query.isAll && files.some(({ reason, load }) => reason !== null && load !== null)
        ? address({ all: '1' })
        : null,
    mayComment,
    urls: {
      all: address({ file: null, context: null }),
      unified: address({ view: null }),
      split: address({ view: 'split' }),
      whitespace: address({ w: query.ignoreWhitespace ? null : '1' }),
      diff: `${url}.diff`,
      patch: `${url}.patch`,
    },
  });
}

/** The rounds that a page compares: an older one that is not older counts as none. */
function chooseRounds(rounds: readonly RoundRow[], { from, to }: ChangesQuery) {
  const last = rounds.at(-1);
  const shown = to === null ? last : rounds.find(({ round }) => round === to);
  if (last === undefined || shown === undefined) throw notFound('round_not_found', 'There is no such round.');
  if (from === null) return { older: null, shown };
  const older = rounds.find(({ round }) => round === from);
  if (older === undefined) throw notFound('round_not_found', 'There is no such round.');
  return { older: older.round < shown.round ? older : null, shown };
}

/** A file that the page has leads there, another one to a page of its own. */
function linkTo(path: Buffer, files: readonly { anchor: string }[], address: ChangesAddress): string {
  const anchor = fileAnchor(path);
  return files.some((file) => file.anchor === anchor)
    ? `#${anchor}`
    : `${address({ file: encodePath(path), context: null, all: null })}#${anchor}`;
}

function viewSummary({ files, truncated }: ReadChanges) {
  const sum = (field: 'added' | 'removed') => files.reduce((total, file) => total + (file[field] ?? 0), 0);
  return {
    files: `${viewCount(files.length, 'changed file')}${truncated ? ' or more' : ''}`,
    added: sum('added'),
    removed: sum('removed'),
  };
}

/** What the page says of two rounds: how they were compared, and their commits side by side. */
async function viewComparison(
  context: RepositoryContext,
  { pulls, clock }: ChangesDeps,
  { older, shown }: { older: RoundRow; shown: RoundRow },
  changes: ReadChanges,
  address: ChangesAddress,
) {
  const pairs = await pulls.rounds.pairCommits(context.viewer, pullAt(context), {
    from: older.round,
    to: shown.round,
  });
  return {
    older: viewRound(older, clock.now()),
    kind: changes.kind,
    isRebased: older.baseOid !== shown.baseOid,
    conflicts: changes.conflicts.map(({ path }) => viewName(path)),
    pairs: pairs && viewPairs(pairs, repositoryUrl(context.found.canonical)),
    plainUrl: address({ plain: '1', file: null }),
    carriedUrl: address({ plain: null, file: null }),
  };
}
