import type { Import } from '../../imports/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { notFound } from '../../kernel/index.ts';
import { translated } from '../../translation/index.ts';
import { viewNumber } from '../app/format-numbers.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryPersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { viewTime } from '../app/times.view.ts';
import type { RepositoryDeps } from './deps.ts';

const steps: readonly (readonly [phases: readonly Import['phase'][], title: string])[] = translated([
  [['describe', 'refs'], 'repository.import.code'],
  [['lfs'], 'repository.import.git_lfs_files'],
  [['wiki'], 'repository.import.wiki'],
  [['labels'], 'repository.import.labels_and_milestones'],
  [['issues', 'pulls', 'comments'], 'repository.import.reading_issues_and_pull_requests'],
  [['write', 'times'], 'repository.import.writing_issues_and_pull_requests'],
  [['files', 'people'], 'repository.import.attached_files'],
  [['releases'], 'repository.import.releases'],
  [['settings', 'finish'], 'repository.import.settings'],
]);

/** Maximum number of report lines on a page; the command line and the API list all of them. */
const mostLines = 200;

function viewImport(found: Import, problems: readonly { item: string; problem: string }[], now: number) {
  const { progress, state, phase } = found;
  const at = steps.findIndex(([phases]) => phases.includes(phase));
  const isRunning = state === 'running';
  // Nothing changes the row of an import that has ended; the last run ends it with its own time.
  const isSwitchedOver = state === 'ended' && found.finishedAt === found.updatedAt;
  const isWhole = state === 'done' || (state === 'ended' && phase === 'finish');
  return {
    address: found.url,
    isRunning,
    isWaiting: found.waitsUntil !== null,
    isPaused: state === 'paused',
    isEnded: state === 'ended',
    isSwitchedOver,
    ended: state === 'ended' ? viewTime(found.updatedAt, now) : null,
    isFollowing: found.watchMs !== null,
    transfer: found.transfer,
    lastError: found.lastError,
    waitsUntil: found.waitsUntil === null ? null : viewTime(found.waitsUntil, now),
    next: state === 'done' && found.watchMs !== null ? viewTime(Math.max(found.nextAt, now), now) : null,
    finished: found.finishedAt === null ? null : viewTime(found.finishedAt, now),
    steps: steps.map(([, title], step) => ({
      title,
      state: isWhole || step < at ? 'done' : step === at && state !== 'ended' ? 'now' : 'later',
    })),
    issues: viewNumber(progress.found.issues),
    comments: viewNumber(progress.found.comments),
    written: viewNumber(progress.written),
    toDo: problems.filter(({ item }) => item === 'to do').map(({ problem }) => problem),
    problems: problems.filter(({ item }) => item !== 'to do').slice(0, mostLines),
    hasMore: problems.length > mostLines,
  };
}

async function importPage(
  { found, query }: RepositoryPersonContext,
  { imports, clock }: RepositoryDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const one = await imports.find(found.repository.id);
  if (one === null) throw notFound('import_not_found', 'This repository does not come from another forge.');
  const problems = await imports.problems(one.id);
  return page('repository/import', {
    repository: viewRepositoryHeader(found),
    section: 'import',
    shown: viewImport(one, problems, clock.now()),
    refusal,
    notice: viewFlashMessage(query),
  });
}

export const showImport: Page<RepositoryPersonContext, RepositoryDeps> = (context, deps) =>
  importPage(context, deps, null);

const done =
  (
    notice: string,
    work: (context: RepositoryPersonContext, deps: RepositoryDeps) => Promise<void>,
  ): Page<RepositoryPersonContext, RepositoryDeps> =>
  (context, deps) =>
    submitForm(
      async () => {
        await work(context, deps);
        return seeOther(withFlashMessage(`${repositoryUrl(context.found.canonical)}/settings/import`, notice));
      },
      (refusal) => importPage(context, deps, refusal),
    );

/** Field `token`: a new one; empty keeps the current one. */
export const runImport = done('import-again', ({ viewer, found, form }, { imports }) =>
  imports.again(viewer, found.repository.id, { token: form.text('token').trim() }),
);
/** Field `archive`: makes the repository on the origin read-only. */
export const switchImportOver = done('import-last', ({ viewer, found, form }, { imports }) =>
  imports.again(viewer, found.repository.id, { isLast: true, archivesSource: form.text('archive') === 'yes' }),
);
