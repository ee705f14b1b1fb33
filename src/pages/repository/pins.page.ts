import { oneOf, returnTarget, repositoryUrl } from '../../http/index.ts';
import { seeOther } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';

/** Where the form was: the dashboard says so in the field `next`, the repository's page says nothing. */
const back = ({ form, found }: RepositoryContext): string =>
  returnTarget(form.text('next') || repositoryUrl(found.canonical));

/** Anyone who can read a repository may pin it to their dashboard. */
export const pinRepository: Page<RepositoryContext> = async (visit, { repositories }) => {
  const {
    viewer,
    found: { canonical },
  } = visit;
  await repositories.pin(viewer, canonical.owner, canonical.name);
  return seeOther(back(visit));
};

export const unpinRepository: Page<RepositoryContext> = async (visit, { repositories }) => {
  const {
    viewer,
    found: { canonical },
  } = visit;
  await repositories.unpin(viewer, canonical.owner, canonical.name);
  return seeOther(back(visit));
};

/** Field `direction`, up or down; leads to the dashboard, where the order shows. */
export const movePin: Page<RepositoryContext> = async ({ viewer, found: { canonical }, form }, { repositories }) => {
  await repositories.movePin(viewer, canonical.owner, canonical.name, oneOf(['up', 'down'], form.text('direction')));
  return seeOther('/');
};
