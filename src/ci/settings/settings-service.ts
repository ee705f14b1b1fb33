import { bindDeps } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import { changeSettings, disabledWorkflows, settingsOf, switchWorkflow } from './repository-settings.ts';

/** CI settings of a repository. */
export function createSettingsService(deps: CiDeps) {
  const bind = bindDeps(deps);
  return {
    of: (repositoryId: string) => settingsOf(deps, repositoryId),
    change: bind(changeSettings),
    /** Paths of the disabled workflows. */
    disabledWorkflows: bind(disabledWorkflows),
    switchWorkflow: bind(switchWorkflow),
    /** Settings of the server. */
    server: { isEnabled: deps.settings.isEnabled, tokenPermissions: deps.settings.tokenPermissions },
  };
}
