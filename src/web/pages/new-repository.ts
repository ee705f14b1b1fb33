import type { Visibility } from '../../access/index.ts';
import { oneOf } from '../preferences.ts';
import { page, seeOther, type PageReply } from '../reply.ts';
import { submit, type FormRefusal } from '../submit.ts';
import { viewAvatar } from '../views/avatar.ts';
import { repositoryUrl } from '../views/urls.ts';
import type { Page, PersonVisit } from '../visit.ts';

interface NewRepositoryForm {
  name: string;
  description: string;
  visibility: Visibility;
  default_branch: string;
}

// Private first: what nobody chose to publish is not public.
const visibilities = ['PRIVATE', 'PUBLIC'] as const;

function newRepositoryPage({ person }: PersonVisit, form: NewRepositoryForm, refusal: FormRefusal | null): PageReply {
  return page('pages/new-repository', {
    form,
    refusal,
    owner: { username: person.username, avatar: viewAvatar(person.id) },
  });
}

export const showNewRepository: Page<PersonVisit> = (visit) =>
  newRepositoryPage(visit, { name: '', description: '', visibility: 'PRIVATE', default_branch: 'main' }, null);

/** Fields `name`, `description`, `visibility`, `default_branch`. */
export const createRepository: Page<PersonVisit> = (visit, { repositories }) => {
  const { form, viewer, person } = visit;
  const input: NewRepositoryForm = {
    name: form.text('name').trim(),
    description: form.text('description'),
    visibility: oneOf(visibilities, form.text('visibility')),
    default_branch: form.text('default_branch').trim() || 'main',
  };
  return submit(
    async () => {
      const { default_branch: defaultBranch, ...rest } = input;
      const { name } = await repositories.create(viewer, { ...rest, defaultBranch });
      return seeOther(repositoryUrl({ owner: person.username ?? '', name }));
    },
    (refusal) => newRepositoryPage(visit, input, refusal),
  );
};
