import { configValue, options } from '../../config/index.ts';
import type { Option, Origin } from '../../config/index.ts';
import { t } from '../../translation/index.ts';
import { page } from '../app/reply.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';

/** Every effective setting with its source; secrets are masked. */
export const showAdminSettings: Page<PersonContext, AdminDeps> = (_context, { config, origins }) =>
  page('admin/settings', {
    settings: (options as readonly Option[]).map((option) => {
      const value = configValue(config, option);
      return {
        key: option.key,
        value: value === null ? '–' : option.secret ? '••••' : option.type.toText(value as never),
        origin: viewOrigin(origins.get(option.key)),
      };
    }),
  });

function viewOrigin(origin: Origin | undefined): string {
  if (origin === undefined || origin.kind === 'default') return 'default';
  return origin.kind === 'flag' ? t('admin.settings.command_line') : (origin.name ?? origin.kind);
}
