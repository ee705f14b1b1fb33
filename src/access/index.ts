export { anonymous, isLocalAdministrator, localAdministrator } from './viewer.ts';
export type { AnonymousViewer, PersonViewer, Scope, Viewer } from './viewer.ts';
export { allows, collaboratorRoles, organisationRoles, repositoryLevel, scopeAllows } from './repository-level.ts';
export type { CollaboratorRole, Level, OrganisationRole, RepositoryFacts, Visibility } from './repository-level.ts';
export { visibleRepositories } from './visible-repositories.ts';
export type { SqlCondition } from './visible-repositories.ts';
