import { unauthenticated } from '../../kernel/index.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { listPage, pageLinks, readFilter } from '../app/list-page.view.ts';
import { describeAccess, viewCollaborator } from '../app/member.view.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Page, RepositoryPersonContext, RepositoryContext } from '../app/request-context.ts';
import type { RepositoryDeps } from './deps.ts';

async function collaboratorsPage(
  context: RepositoryPersonContext,
  deps: RepositoryDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { repositories, owners, clock } = deps;
  const { viewer, found, form, query } = context;
  const { owner, name } = found.canonical;
  const filter = readFilter(query);
  const [{ collaborators, ...beside }, own] = await Promise.all([
    listPage(
      (paging) => repositories.collaborators.listPage(viewer, owner, name, { prefix: filter, ...paging }),
      query,
    ),
    repositories.collaborators.explainAccess(viewer, owner, name),
  ]);
  const pictures = await owners.ownersById(collaborators.map(({ person }) => person.id));
  return page('repository/collaborators', {
    repository: viewRepositoryHeader(found),
    section: 'collaborators',
    collaborators: collaborators.map((each) => viewCollaborator(each, pictures, clock.now())),
    filter,
    ...pageLinks(listUrl(context), beside, { q: filter }),
    belongsToOrganisation: found.owner.kind === 'organisation',
    ownAccess: describeAccess(own),
    form: { username: form.text('username'), role: form.text('role') || 'write' },
    refusal,
    notice: viewFlashMessage(query),
  });
}

const listUrl = ({ found }: RepositoryContext): string => `${repositoryUrl(found.canonical)}/settings/collaborators`;

/** For all administrators of the repository: that permission includes managing collaborators. */
export const showCollaborators: Page<RepositoryPersonContext, RepositoryDeps> = (context, deps) =>
  collaboratorsPage(context, deps, null);

/** Fields `username`, `role`: read, write or admin. */
export const addCollaborator: Page<RepositoryPersonContext, RepositoryDeps> = (context, deps) => {
  const {
    viewer,
    found: { canonical },
    form,
  } = context;
  return submitForm(
    async () => {
      const input = { username: form.text('username').trim(), role: form.text('role') };
      await deps.repositories.collaborators.add(viewer, canonical.owner, canonical.name, input);
      return seeOther(withFlashMessage(listUrl(context), 'collaborator-added'));
    },
    (refusal) => collaboratorsPage(context, deps, refusal),
  );
};

/** Field `role`. */
export const changeCollaborator: Page<RepositoryPersonContext, RepositoryDeps> = (context, deps) => {
  const {
    viewer,
    found: { canonical },
    form,
    params,
  } = context;
  return submitForm(
    async () => {
      const change = { username: params.username ?? '', role: form.text('role') };
      await deps.repositories.collaborators.changeRole(viewer, canonical.owner, canonical.name, change);
      return seeOther(withFlashMessage(listUrl(context), 'role-changed'));
    },
    (refusal) => collaboratorsPage(context, deps, refusal),
  );
};

export const removeCollaborator: Page<RepositoryPersonContext, RepositoryDeps> = async (context, { repositories }) => {
  const {
    viewer,
    found: { canonical },
    params,
  } = context;
  await repositories.collaborators.remove(viewer, canonical.owner, canonical.name, params.username ?? '');
  return seeOther(withFlashMessage(listUrl(context), 'collaborator-removed'));
};

/** Ends the user's own collaboration; 404 for users who are not collaborators. */
export const leaveRepository: Page<RepositoryContext, RepositoryDeps> = async (
  { viewer, found: { canonical } },
  { repositories },
) => {
  if (viewer.kind === 'anonymous') throw unauthenticated('sign_in', 'Sign in first.');
  await repositories.collaborators.leave(viewer, canonical.owner, canonical.name);
  return seeOther(withFlashMessage('/', 'repository-left'));
};
