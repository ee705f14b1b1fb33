import { collaboratorSchema } from './collaborators/collaborator-schema.ts';
import { pushAnnouncementSchema, pushSchema, pushUpdateSchema } from './pushes/push-schema.ts';
import { repositorySchema } from './repository-schema.ts';

export { createRepositories } from './repositories.ts';
export type { Repositories } from './repositories.ts';
export type { ArrivedPush, PushListener } from './pushes/announce-push.ts';
export type { NewRepository } from './create-repository.ts';
export type { Found } from './find-repository.ts';
export type { ListedRepository, ListOptions, RepositoryPage } from './list-repositories.ts';
export type { RefResult, RefUpdate } from './pushes/push-journal.ts';
export type { IncomingPush } from './pushes/receive-push.ts';
export { parseRepositoryName } from './repository-name.ts';
export type { Repository } from './repository-schema.ts';
export type { RepositorySettings } from './room.ts';

export const repositoryEntities = [
  repositorySchema,
  collaboratorSchema,
  pushSchema,
  pushUpdateSchema,
  pushAnnouncementSchema,
];
