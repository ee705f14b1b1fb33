import { localAdministrator } from '../../access/index.ts';
import { cleanText } from '../../accounts/index.ts';
import { isRefusal } from '../../kernel/index.ts';
import { phases } from '../schema/import-schema.ts';
import type { Phase } from '../schema/import-schema.ts';
import { writeIssues } from '../write/write-issues.ts';
import { writeTimes } from '../write/write-times.ts';
import { fetchPages } from './fetch-pages.ts';
import type { RunContext } from '../context/run-context.ts';
import { nameReleaseAuthors } from '../people/release-authors.ts';
import { fetchFiles } from '../files/fetch-files.ts';
import { findAddresses } from './find-addresses.ts';
import { nameGone } from './name-gone.ts';
import { transferRefs } from './transfer-code.ts';
import { transferWiki } from './transfer-wiki.ts';
import { keepHook } from '../watch/watch-hook.ts';
import { writeFans } from './write-extras.ts';
import { writeLabels } from './write-labels.ts';
import { writePicture } from './write-picture.ts';
import { writeSettings } from './write-settings.ts';

/** Length limit of a description here. */
const descriptionCharacters = 500;

type Step = (context: RunContext) => Promise<void>;

/** Steps that a run leaves out once they have failed for minutes. Pull requests are then requested one by one. */
const skipped: ReadonlySet<Phase> = new Set(['lfs', 'wiki', 'labels', 'pulls', 'times', 'files', 'people', 'releases']);
const phaseNames: Partial<Record<Phase, string>> = {
  lfs: 'Git LFS',
  pulls: 'pull requests',
  times: 'tracked times',
  people: 'addresses of people',
};

const steps: Readonly<Record<Phase, Step>> = {
  describe,
  refs: transferRefs,
  async lfs({ transfer, options, tell, renew }) {
    if (!options.withLfs) return;
    renew('Git LFS');
    for (const problem of await transfer.lfs()) tell('Git LFS', problem);
  },
  wiki: transferWiki,
  labels: writeLabels,
  issues: (context) => fetchPages(context, 'issues'),
  async pulls(context) {
    // Changed items are requested one by one.
    if (context.row.isFull && context.options.withPulls) await fetchPages(context, 'pulls');
  },
  async comments(context) {
    await fetchPages(context, 'comments');
    await nameGone(context);
  },
  write: writeIssues,
  times: writeTimes,
  async files(context) {
    await fetchFiles(context);
    await writePicture(context);
  },
  people: findAddresses,
  async releases({ deps, row, transfer, options, tell, renew }) {
    if (!options.withReleases) return;
    renew('releases');
    const problems = await transfer.releases((sentence) => tell('releases', sentence));
    for (const problem of problems) tell('releases', problem);
    await nameReleaseAuthors(deps, row);
  },
  settings: writeSettings,
  finish,
};

/** Runs an import from its position to its end; the row stores the position after each step. */
export async function runPhases(context: RunContext): Promise<void> {
  for (let at = phases.indexOf(context.row.phase); at < phases.length; at += 1) {
    context.signal.throwIfAborted();
    const phase = phases[at]!;
    if (context.row.isFull && skipped.has(phase)) context.renew(phaseNames[phase] ?? phase);
    await steps[phase](context).catch(async (error: unknown) => {
      if (!skipped.has(phase) || !(await context.mayLeaveOut(error))) throw error;
      context.progress.isPartial = true;
      context.tell(phaseNames[phase] ?? phase, `did not all come: ${(error as Error).message}`);
    });
    const next = phases[at + 1];
    // The last step has lines of the report, too.
    await context.save(next === undefined ? {} : { phase: next, progress: { cursor: null } });
  }
}

async function describe(context: RunContext): Promise<void> {
  const { deps, source, row, options, tell } = context;
  /** A refusal becomes a line of the report. */
  const refusedAs = (what: string) => (error: unknown) => {
    if (!isRefusal(error)) throw error;
    tell(what, error.message);
  };
  const found = await source.describe();
  const { isPrivate, isArchived, defaultBranch, hasWiki, pictures, project } = found;
  context.progress.described = {
    ...{ isPrivate, isArchived, defaultBranch, hasWiki },
    ...(pictures && { pictures }),
    ...(project !== undefined && { project }),
  };
  context.renew('address');
  if (project !== undefined && project.toLowerCase() !== row.project.toLowerCase())
    tell('address', `it is ${project} there now`);
  context.renew('archived there');
  // Reported, not followed: projects that move archive their old repository and continue in this one.
  const isFollowed = row.run === 1 && row.watchMs === null;
  const isExpected = row.isLast && options.archivesSource;
  if (isArchived && !isFollowed && !isExpected && context.located.repository.archivedAt === null)
    tell('archived there', 'the repository is archived at the source; here it can still be changed');
  if (row.run === 1) {
    const description = cleanText(found.description, descriptionCharacters);
    const { owner, name } = await context.at();
    await deps.repositories.edit(localAdministrator, owner, name, { description });
    if (found.website !== '')
      await deps.repositories
        .edit(localAdministrator, owner, name, { website: found.website })
        .catch(refusedAs('website'));
    for (const topic of found.topics)
      await deps.repositories.topics
        .add(localAdministrator, owner, name, topic)
        .catch(refusedAs(`topic ${topic.slice(0, 50)}`));
  }
}

/** The repository becomes public last, so that an incomplete import is never visible. */
async function finish(context: RunContext): Promise<void> {
  const { deps, row, options, progress, source, tell } = context;
  const wanted = options.visibility ?? (progress.described?.isPrivate === false ? 'PUBLIC' : 'PRIVATE');
  if (row.run === 1 && wanted === 'PUBLIC') {
    const { owner, name } = await context.at();
    await deps.repositories.changeVisibility(localAdministrator, owner, name, 'PUBLIC');
  }
  if (row.isFull) await writeFans(context);
  await keepHook(context);
  if (row.isLast && options.archivesSource) {
    const isArchived = await source.archive().catch((error: unknown) => {
      if (!isRefusal(error)) throw error;
      return false;
    });
    if (!isArchived) tell('to do', `Archive ${row.url}: the token may not do it.`);
  }
  if (row.run === 1 && progress.described?.isArchived === true && row.watchMs === null) {
    const { owner, name } = await context.at();
    await deps.repositories.setArchived(localAdministrator, owner, name, true);
  }
}
