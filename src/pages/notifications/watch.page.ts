import { watchLevels } from '../../notifications/index.ts';
import type { WatchLevel } from '../../notifications/index.ts';
import { oneOf, repositoryUrl, returnTarget } from '../../http/index.ts';
import { seeOther } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { NotificationsDeps } from './deps.ts';

/** Field `level`; `next` is the page with the form. Anyone who can read a repository may choose. */
export const watchRepository: Page<RepositoryContext, NotificationsDeps> = async (context, { notifications }) => {
  const { viewer, form, found } = context;
  const level: WatchLevel = oneOf(watchLevels, form.text('level'));
  await notifications.setWatching(viewer, found.canonical, level);
  return seeOther(returnTarget(form.text('next') || repositoryUrl(found.canonical)));
};
