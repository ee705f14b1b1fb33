import { repositoryUrl } from '../../http/index.ts';
import { notFound } from '../../kernel/index.ts';
import { t } from '../../translation/index.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { page, seeOther } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryPersonContext } from '../app/request-context.ts';
import { viewTime } from '../app/times.view.ts';
import type { IssuesDeps } from './deps.ts';
import { entryUrl } from '../app/entry-urls.ts';
import { issueUrl } from './issue-urls.ts';
import { viewAuthor, viewPerson } from './people.view.ts';

const moderationUrl = ({ found }: RepositoryPersonContext): string =>
  `${repositoryUrl(found.canonical)}/issues/moderation`;
const trashUrl = ({ found }: RepositoryPersonContext): string => `${repositoryUrl(found.canonical)}/issues/trash`;

/** `B/issues/moderation`: entries that wait for a member, by author. For users who may admit them. */
export const showModeration: Page<RepositoryPersonContext, IssuesDeps> = async (context, deps) => {
  const { viewer, found, query } = context;
  const { issues, owners, clock } = deps;
  const [held, may, settings] = await Promise.all([
    issues.listHeldTexts(viewer, found.canonical),
    issues.rightsIn(viewer, found.canonical),
    issues.settingsOf(viewer, found.canonical),
  ]);
  const people = await owners.ownersById(held.map(({ userId }) => userId));
  const mayManage = may('manage') === null;
  return page('issues/moderation', {
    repository: viewRepositoryHeader(found),
    held: held.map(({ userId, texts }) => ({
      id: userId,
      person: viewPerson(userId, people),
      texts: texts.map(({ number, title, position, body, heldAt }) => ({
        number,
        title,
        what: position === 0 ? t('issues.moderation.new_issue') : t('issues.moderation.comment'),
        url: entryUrl(issueUrl(repositoryUrl(found.canonical), number), position),
        body,
        at: viewTime(heldAt, clock.now()),
      })),
    })),
    holdsNewcomers: settings.holdsNewcomers,
    url: moderationUrl(context),
    trash: mayManage ? trashUrl(context) : null,
    settings: mayManage ? `${repositoryUrl(found.canonical)}/settings/issues` : null,
    notice: viewFlashMessage(query),
  });
};

export const admitContributor: Page<RepositoryPersonContext, IssuesDeps> = async (context, { issues }) => {
  await issues.admit(context.viewer, context.found.canonical, personId(context));
  return seeOther(withFlashMessage(moderationUrl(context), 'contributor-admitted'));
};

export const refuseContributor: Page<RepositoryPersonContext, IssuesDeps> = async (context, { issues }) => {
  await issues.refuse(context.viewer, context.found.canonical, personId(context));
  return seeOther(withFlashMessage(moderationUrl(context), 'contributor-refused'));
};

/** Ids of contributors always have this form. */
function personId({ params }: RepositoryPersonContext): string {
  const id = params['person'] ?? '';
  if (!/^[0-9a-f-]{36}$/.test(id)) throw notFound('person_not_found', 'Person not found');
  return id;
}

/** `B/issues/trash`: deleted issues, for administrators of the repository. */
export const showTrash: Page<RepositoryPersonContext, IssuesDeps> = async (context, deps) => {
  const { viewer, found, query } = context;
  const { issues, owners, clock } = deps;
  const rows = await issues.listTrash(viewer, found.canonical);
  const ids = rows.flatMap(({ authorId, deletedBy }) => [authorId, deletedBy]).filter((id) => id !== null);
  const people = await owners.ownersById(new Set(ids));
  return page('issues/trash', {
    repository: viewRepositoryHeader(found),
    url: trashUrl(context),
    moderation: moderationUrl(context),
    issues: rows.map((row) => ({
      number: row.number,
      title: row.title,
      author: viewAuthor(row, people),
      by: row.deletedBy === null ? null : (people.get(row.deletedBy)?.handle ?? null),
      at: viewTime(row.deletedAt ?? row.updatedAt, clock.now()),
    })),
    notice: viewFlashMessage(query),
  });
};
