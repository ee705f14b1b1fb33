import { z } from 'zod';
import type { CiRepositorySettings } from '../../../ci/index.ts';
import { json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';

const at = '/repos/{owner}/{name}/ci_settings';
const tokenPermissions = z.enum(['read', 'write']).nullable();

const settings = z
  .strictObject({
    enabled: z.boolean().describe('Whether events start workflows'),
    token_permissions: tokenPermissions.describe(
      'Permissions of job tokens if a workflow does not set any; null for the server’s default',
    ),
  })
  .meta({ id: 'CiSettings' });

const show = ({ isEnabled, tokenPermissions: level }: CiRepositorySettings) => ({
  enabled: isEnabled,
  token_permissions: level,
});

const getCiSettings = operation({
  id: 'getCiSettings',
  method: 'GET',
  path: at,
  tag: 'Runs',
  summary: 'Get a repository’s workflow settings',
  access: 'repository:admin',
  cost: 'rows',
  status: 200,
  response: settings,
  run: async ({ found, deps }) => json(show(await deps.ci.settings.of(found.repository.id))),
});

const editCiSettings = operation({
  id: 'editCiSettings',
  method: 'PATCH',
  path: at,
  tag: 'Runs',
  summary: 'Update a repository’s workflow settings',
  description: 'Omitted fields remain unchanged. Runs in progress continue.',
  access: 'repository:admin',
  cost: 'rows',
  status: 200,
  refusesUnknownKeys: true,
  body: z.strictObject({ enabled: z.boolean().optional(), token_permissions: tokenPermissions.optional() }),
  response: settings,
  async run({ viewer, found, body, deps }) {
    const change = {
      ...(body.enabled !== undefined && { isEnabled: body.enabled }),
      ...(body.token_permissions !== undefined && { tokenPermissions: body.token_permissions }),
    };
    return json(show(await deps.ci.settings.change(viewer, found, change)));
  },
});

const switchOperation = (word: 'enable' | 'disable') =>
  operation({
    id: `${word}Workflow`,
    method: 'PUT',
    path: `/repos/{owner}/{name}/workflows/{workflow}/${word}`,
    tag: 'Runs',
    summary: word === 'enable' ? 'Enable a workflow' : 'Disable a workflow',
    description:
      'Applies to all branches. The name is the percent-encoded file path relative to the workflow directory.',
    access: 'repository:write',
    cost: 'rows',
    status: 204,
    async run({ viewer, found, params, deps }) {
      const change = { path: params['workflow'] ?? '', isEnabled: word === 'enable' };
      await deps.ci.settings.switchWorkflow(viewer, found, change);
      return noContent();
    },
  });

/** Switches of workflows, and default permissions of job tokens. */
export const ciSettingsOperations = [
  getCiSettings,
  editCiSettings,
  switchOperation('enable'),
  switchOperation('disable'),
];
