import type { RepositoryDeps } from '../deps.ts';
import { bindRepositoryDeps } from '../bind-repository-deps.ts';
import {
  addCollaborator,
  changeCollaboratorRole,
  leaveRepository,
  removeCollaborator,
} from './change-collaborators.ts';
import { explainAccess, listCollaborators, listCollaboratorsPage } from './list-collaborators.ts';

/** Collaborators of repositories. */
export function createCollaboratorService(deps: RepositoryDeps) {
  const bindAt = bindRepositoryDeps(deps);
  return {
    list: bindAt(listCollaborators),
    listPage: bindAt(listCollaboratorsPage),
    add: bindAt(addCollaborator),
    changeRole: bindAt(changeCollaboratorRole),
    remove: bindAt(removeCollaborator),
    leave: bindAt(leaveRepository),
    explainAccess: bindAt(explainAccess),
  };
}
