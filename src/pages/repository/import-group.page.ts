import type { ImportGroup, ImportGroupItem } from '../../imports/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Viewer } from '../../access/index.ts';
import { viewNumber } from '../app/format-numbers.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { viewTime } from '../app/times.view.ts';
import type { RepositoryDeps } from './deps.ts';

/** Maximum number of repositories on the page; the command line lists all of them. */
const mostShown = 500;

export const importGroupUrl = (id: string): string => `/repos/import/${id}`;

export const viewGroup = ({ id, url, owner, state, counts, waitsUntil, lastError }: ImportGroup, now: number) => ({
  url: importGroupUrl(id),
  address: url,
  owner,
  isRunning: state === 'running' || counts.running > 0,
  isPaused: state === 'paused' || counts.paused > 0,
  lastError,
  waitsUntil: waitsUntil === null ? null : viewTime(waitsUntil, now),
  all: viewNumber(counts.all),
  done: viewNumber(counts.done),
  refused: viewNumber(counts.refused),
});

function viewItem({ project, url, problem, state, lastError }: ImportGroupItem, here: string | null) {
  const kind = problem !== null ? 'refused' : state === null ? 'waiting' : state;
  return { project, address: url, here, kind, problem: problem ?? lastError };
}

async function groupPage(
  viewer: Viewer,
  id: string,
  { imports, repositories, clock }: RepositoryDeps,
  { refusal, notice }: { refusal: FormRefusal | null; notice: string | null },
): Promise<PageReply> {
  const { group, items, owners, lines } = await imports.groups.find(viewer, id);
  const shown = items.slice(0, mostShown);
  const places = await repositories.locate(shown.flatMap(({ repositoryId }) => repositoryId ?? []));
  return page('repository/import-group', {
    group: viewGroup(group, clock.now()),
    items: shown.map((item) => {
      const place = item.repositoryId === null ? undefined : places.get(item.repositoryId);
      const at = place && repositoryUrl({ owner: place.owner.handle, name: place.repository.name });
      return viewItem(item, at === undefined ? null : `${at}/settings/import`);
    }),
    hasMore: items.length > mostShown,
    owners,
    lines: lines.slice(0, mostShown),
    hasMoreLines: lines.length > mostShown,
    refusal,
    notice,
  });
}

export const showImportGroup: Page<PersonContext, RepositoryDeps> = ({ viewer, params, query }, deps) =>
  groupPage(viewer, params['import']!, deps, { refusal: null, notice: viewFlashMessage(query) });

const done =
  (
    notice: string,
    work: (context: PersonContext, deps: RepositoryDeps) => Promise<void>,
  ): Page<PersonContext, RepositoryDeps> =>
  (context, deps) =>
    submitForm(
      async () => {
        await work(context, deps);
        return seeOther(withFlashMessage(importGroupUrl(context.params['import']!), notice));
      },
      (refusal) => groupPage(context.viewer, context.params['import']!, deps, { refusal, notice: null }),
    );

/** Field `token`: a new one; empty keeps the current one. */
export const runImportGroup = done('import-again', ({ viewer, params, form }, { imports }) =>
  imports.groups.again(viewer, params['import']!, { token: form.text('token').trim() }),
);
/** Field `archive`: makes the repositories on the origin read-only. */
export const switchImportGroupOver = done('import-last', ({ viewer, params, form }, { imports }) =>
  imports.groups.again(viewer, params['import']!, { isLast: true, archivesSource: form.text('archive') === 'yes' }),
);
