import { bindDeps } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import { changeSettings, disabledWorkflows, settingsOf, switchWorkflow } from './repository-settings.ts';

/** What a repository has chosen for its workflows. */
export function createSettingsService(deps: CiDeps) {
  const bind = bindDeps(deps);
  return {
    of: (repositoryId: string) => settingsOf(deps, repositoryId),
    change: bind(changeSettings),
    /** Paths of the workflows that are switched off. */
    disabledWorkflows: bind(disabledWorkflows),
    switchWorkflow: bind(switchWorkflow),
    /** The switch and the default of the server. */
    server: { isEnabled: deps.settings.isEnabled, tokenPermissions: deps.settings.tokenPermissions },
  };
}
