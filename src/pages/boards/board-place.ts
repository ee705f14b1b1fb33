import { organisationUrl, repositoryUrl } from '../../http/index.ts';
import type { BoardPlace, Label } from '../../issues/index.ts';
import { notFound } from '../../kernel/index.ts';
import { viewOrganisationHeader } from '../app/organisation-header.view.ts';
import type { OrganisationHeaderView } from '../app/organisation-header.view.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { RepositoryContext, RequestContext } from '../app/request-context.ts';
import type { IssuesDeps } from '../issues/deps.ts';

/** The differences between the board pages of a repository and of an organisation. */
export interface PlaceOfBoards<V extends RequestContext> {
  at(context: V): BoardPlace;
  /** URL of the list of boards. */
  url(context: V): string;
  /** The page header: exactly one of the two is set. */
  head(
    context: V,
    deps: IssuesDeps,
  ): Promise<{ repository: object | null; organisation: OrganisationHeaderView | null }>;
  labels(context: V, deps: IssuesDeps): Promise<Label[]>;
}

export const boardsOfRepository: PlaceOfBoards<RepositoryContext> = {
  at: ({ found }) => found.canonical,
  url: ({ found }) => `${repositoryUrl(found.canonical)}/boards`,
  head: async ({ found }) => ({ repository: viewRepositoryHeader(found), organisation: null }),
  labels: ({ viewer, found }, { issues }) => issues.listLabels(viewer, found.canonical),
};

const nameOf = ({ params }: RequestContext): string => params['name'] ?? '';

export const boardsOfOrganisation: PlaceOfBoards<RequestContext> = {
  at: (context) => ({ organisation: nameOf(context) }),
  url: (context) => `${organisationUrl(nameOf(context))}/boards`,
  async head(context, { organisations, owners }) {
    const { viewer } = context;
    const owner = await owners.resolve(nameOf(context));
    if (owner?.kind !== 'organisation') throw notFound();
    const organisation = await organisations.find(nameOf(context));
    const role = viewer.kind === 'person' ? await organisations.roleOf(viewer.id, organisation.id) : null;
    return { repository: null, organisation: viewOrganisationHeader(organisation, owner.avatarAt, role) };
  },
  labels: (context, { issues }) => issues.listOrganisationLabels(nameOf(context)),
};
