import { oneOf, returnTarget, repositoryUrl } from '../../http/index.ts';
import { seeOther } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { RepositoryDeps } from './deps.ts';

/** The page that sent the form: the dashboard sets the field `next`, the repository's page does not. */
const back = ({ form, found }: RepositoryContext): string =>
  returnTarget(form.text('next') || repositoryUrl(found.canonical));

/** Anyone who can read a repository may pin it to their dashboard. */
export const pinRepository: Page<RepositoryContext, RepositoryDeps> = async (context, { repositories }) => {
  const {
    viewer,
    found: { canonical },
  } = context;
  await repositories.pins.add(viewer, canonical.owner, canonical.name);
  return seeOther(back(context));
};

export const unpinRepository: Page<RepositoryContext, RepositoryDeps> = async (context, { repositories }) => {
  const {
    viewer,
    found: { canonical },
  } = context;
  await repositories.pins.remove(viewer, canonical.owner, canonical.name);
  return seeOther(back(context));
};

/** Field `direction`, up or down; redirects to the dashboard, which shows the order. */
export const movePin: Page<RepositoryContext, RepositoryDeps> = async (
  { viewer, found: { canonical }, form },
  { repositories },
) => {
  await repositories.pins.move(viewer, canonical.owner, canonical.name, oneOf(['up', 'down'], form.text('direction')));
  return seeOther('/');
};
