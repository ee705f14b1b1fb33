import { t } from '../../translation/index.ts';
import { listPage, pageLinks } from '../app/list-page.view.ts';
import { page } from '../app/reply.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { PullsDeps } from './deps.ts';
import { viewAttentionPulls } from './attention-pulls.view.ts';

/** `/dashboard/pulls`: pull requests that wait for the user; `?list=others`: their own that wait for others. */
export const showOwnPulls: Page<PersonContext, PullsDeps> = async ({ viewer, query }, deps) => {
  const list = query.get('list') === 'others' ? 'others' : 'you';
  const { attention } = deps.pulls;
  const { rows, next, previous } = await listPage(
    (paging) => (list === 'you' ? attention.waitingFor : attention.waitingForOthers)(viewer, paging),
    query,
  );
  const path = '/dashboard/pulls';
  return page('pulls/own-pulls', {
    list,
    tabs: [
      { text: t('pulls.own_pulls.waiting_for_you'), url: path, isChosen: list === 'you' },
      { text: t('pulls.own_pulls.waiting_for_others'), url: `${path}?list=others`, isChosen: list === 'others' },
    ],
    pulls: await viewAttentionPulls(deps, rows),
    ...pageLinks(path, { next, previous }, { list: list === 'you' ? '' : list }),
  });
};
