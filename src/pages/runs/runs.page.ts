import { eventNames, runStatusGroups } from '../../ci/index.ts';
import type { RunFilter, RunRow } from '../../ci/index.ts';
import { page } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import { viewName } from '../app/printable-names.ts';
import { viewRunRow } from './run-row.view.ts';
import { viewFlashMessage } from '../app/flash-messages.view.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { queryNumber } from '../../http/index.ts';
import { dateFormat, t } from '../../translation/index.ts';
import { viewTime } from '../app/times.view.ts';
import { referencesOf } from '../markdown/linked-text.ts';
import { readReferences } from '../markdown/reference-links.ts';
import type { RunsDeps } from './deps.ts';

const perPage = 30;
const noFilters = { workflow: '', status: '', event: '', branch: '', actor: '' };

/** The time that the clocks of a zone show. */
const zonedTime = (at: number, timeZone: string): string =>
  dateFormat({ dateStyle: 'medium', timeStyle: 'short', timeZone })(at);

/** Query: `workflow`, `status`, `event`, `branch`, `actor`; `before` for the next page. */
export const showRuns: Page<RepositoryContext, RunsDeps> = async (context, deps): Promise<Reply> => {
  const { found, query } = context;
  const { ci, clock } = deps;
  const chosen = {
    workflow: query.get('workflow') ?? '',
    status: oneOf(runStatusGroups, query.get('status')),
    event: oneOf(eventNames, query.get('event')),
    branch: query.get('branch') ?? '',
    actor: query.get('actor') ?? '',
  };
  const disabled = await ci.settings.disabledWorkflows(found.repository.id);
  const [{ runs, next }, workflows, queue, planned] = await Promise.all([
    ci.runs.list(found, await filterOf(chosen, deps), { limit: perPage, before: queryNumber(query, 'before') }),
    ci.runs.workflowsOf(found),
    ci.tasks.explainQueue(found),
    ci.workflows.planned(found, disabled),
  ]);
  const head = viewRepositoryHeader(found);
  const actors = await actorsOf(runs, deps);
  const references = await readReferences(
    context,
    deps,
    runs.flatMap(({ title }) => referencesOf(title, context.origin)),
  );
  return page('runs/runs', {
    repository: head,
    runs: runs.map((run) => viewRunRow(run, head.url, actors.get(run.actorId ?? '') ?? null, clock.now(), references)),
    workflows: workflows.map(({ path, name }) => ({
      path,
      name: viewName(name),
      url: listUrl(head.url, { ...chosen, workflow: path }),
      isEnabled: !disabled.has(path),
    })),
    allWorkflows: listUrl(head.url, { ...chosen, workflow: '' }),
    events: eventNames.map((value) => ({ value, label: labelOf(value) })),
    chosen,
    isFiltered: Object.values(chosen).some((value) => value !== ''),
    queued: queue.length,
    planned: planned.map(({ workflow, cron, timeZone, at }) => ({
      workflow,
      url: listUrl(head.url, { ...noFilters, workflow }),
      cron,
      timeZone,
      at: viewTime(at, clock.now()),
      local: zonedTime(at, timeZone),
    })),
    next: next === null ? null : listUrl(head.url, { ...chosen, before: String(next) }),
    notice: viewFlashMessage(query),
  });
};

function oneOf(words: readonly string[], given: string | null): string {
  return given !== null && words.includes(given) ? given : '';
}

const eventLabels = new Map<string, string>([
  ['push', 'runs.runs.push'],
  ['pull_request', 'runs.runs.pull_request'],
  ['workflow_dispatch', 'runs.runs.manual'],
  ['schedule', 'runs.runs.schedule'],
]);

const labelOf = (event: string): string => {
  const key = eventLabels.get(event);
  return key === undefined ? event : t(key);
};

/** The URL of the list with these filters; empty ones are omitted. */
function listUrl(repositoryUrl: string, filters: Record<string, string>): string {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== '')).toString();
  return `${repositoryUrl}/runs${query === '' ? '' : `?${query}`}`;
}

/** An unknown user has no runs. */
async function filterOf(
  { workflow, status, event, branch, actor }: Record<string, string>,
  { accounts }: RunsDeps,
): Promise<RunFilter> {
  const person = actor ? await accounts.personByUsername(actor).catch(() => ({ id: 'nobody' })) : null;
  return { workflow, status, event, ref: branch ? `refs/heads/${branch}` : undefined, actorId: person?.id };
}

/** Usernames of those who started some runs, by id. */
export async function actorsOf(
  runs: readonly Pick<RunRow, 'actorId'>[],
  { accounts }: Pick<RunsDeps, 'accounts'>,
): Promise<Map<string, string>> {
  const people = await accounts.peopleById(runs.flatMap(({ actorId }) => actorId ?? []));
  return new Map([...people].flatMap(([id, { username }]) => (username === null ? [] : [[id, username] as const])));
}
