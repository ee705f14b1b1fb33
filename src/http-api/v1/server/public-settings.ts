import { z } from 'zod';
import { issueLimits, reactionKinds } from '../../../issues/index.ts';
import { notFound } from '../../../kernel/index.ts';
import { gitignoreTemplates, licenceTemplates, renderLicence } from '../../../repositories/index.ts';
import { giteaTheme } from '../users/user-lists.ts';
import { json } from '../../responses.ts';
import { operation } from '../../operation.ts';

/** Gitea's information about the server, and its templates for new repositories. */
const common = { method: 'GET', tag: 'Miscellaneous', access: 'anyone', cost: 'free', status: 200 } as const;

const settingsOf = [
  operation({
    ...common,
    id: 'getApiSettings',
    path: '/settings/api',
    summary: 'Get the page size and content size limits',
    response: z
      .strictObject({
        max_response_items: z.int(),
        default_paging_num: z.int(),
        default_git_trees_per_page: z.int(),
        default_max_blob_size: z.int(),
        default_max_response_size: z.int(),
      })
      .meta({ id: 'GeneralAPISettings' }),
    run: async () =>
      json({
        max_response_items: 100,
        default_paging_num: 30,
        default_git_trees_per_page: 1_000,
        default_max_blob_size: 2 * 1024 * 1024,
        default_max_response_size: 16 * 1024 * 1024,
      }),
  }),
  operation({
    ...common,
    id: 'getAttachmentSettings',
    path: '/settings/attachment',
    summary: 'Get the settings for issue attachments',
    response: z
      .strictObject({
        enabled: z.boolean(),
        allowed_types: z.string().describe('Any'),
        max_size: z.int().describe('Size in MiB'),
        max_files: z.int(),
      })
      .meta({ id: 'GeneralAttachmentSettings' }),
    run: async ({ deps }) =>
      json({
        enabled: true,
        allowed_types: '*/*',
        max_size: Math.floor(deps.issues.attachmentBytes / 1024 / 1024),
        max_files: issueLimits.attachmentsPerText,
      }),
  }),
  operation({
    ...common,
    id: 'getRepositorySettings',
    path: '/settings/repository',
    summary: 'Get the repository features of this server',
    response: z
      .strictObject({
        mirrors_disabled: z.boolean(),
        http_git_disabled: z.boolean(),
        migrations_disabled: z.boolean(),
        stars_disabled: z.boolean(),
        forks_disabled: z.boolean(),
        time_tracking_disabled: z.boolean(),
        lfs_disabled: z.boolean(),
      })
      .meta({ id: 'GeneralRepoSettings' }),
    run: async ({ deps }) =>
      json({
        mirrors_disabled: false,
        http_git_disabled: false,
        migrations_disabled: false,
        stars_disabled: false,
        forks_disabled: false,
        time_tracking_disabled: false,
        lfs_disabled: !deps.config.lfs.enabled,
      }),
  }),
  operation({
    ...common,
    id: 'getInterfaceSettings',
    path: '/settings/ui',
    summary: 'Get the available reactions',
    response: z
      .strictObject({
        default_theme: z.string(),
        allowed_reactions: z.array(z.string()),
        custom_emojis: z.array(z.string()),
      })
      .meta({ id: 'GeneralUISettings' }),
    run: async () => json({ default_theme: giteaTheme, allowed_reactions: [...reactionKinds], custom_emojis: [] }),
  }),
];

const licenceEntry = { key: z.string(), name: z.string(), url: z.string() };
const licenceUrl = (origin: string, key: string): string => `${origin}/api/v1/licenses/${encodeURIComponent(key)}`;

const templates = [
  operation({
    ...common,
    id: 'listLicences',
    path: '/licenses',
    summary: 'List the licences available for new repositories',
    response: z.array(z.strictObject(licenceEntry).meta({ id: 'LicensesTemplateListEntry' })),
    run: async ({ origin }) =>
      json(Object.entries(licenceTemplates).map(([key, name]) => ({ key, name, url: licenceUrl(origin, key) }))),
  }),
  operation({
    ...common,
    id: 'getLicence',
    path: '/licenses/{name}',
    summary: 'Get a licence’s text',
    refuses: [404],
    response: z
      .strictObject({ ...licenceEntry, implementation: z.string(), body: z.string() })
      .meta({ id: 'LicenseTemplateInfo' }),
    async run({ params, origin }) {
      const found = Object.entries(licenceTemplates).find(([key]) => key.toLowerCase() === params.name.toLowerCase());
      if (found === undefined) throw notFound('licence_not_found', 'There is no such licence.');
      const [key, name] = found as [keyof typeof licenceTemplates, string];
      const body = renderLicence(key, { holder: '<copyright holders>', year: new Date().getUTCFullYear() });
      return json({ key, name, url: licenceUrl(origin, key), implementation: '', body });
    },
  }),
  operation({
    ...common,
    id: 'listGitignoreTemplates',
    path: '/gitignore/templates',
    summary: 'List the names of .gitignore templates',
    response: z.array(z.string()),
    run: async () => json(Object.keys(gitignoreTemplates)),
  }),
  operation({
    ...common,
    id: 'getGitignoreTemplate',
    path: '/gitignore/templates/{name}',
    summary: 'Get a .gitignore template',
    refuses: [404],
    response: z.strictObject({ name: z.string(), source: z.string() }).meta({ id: 'GitignoreTemplateInfo' }),
    async run({ params }) {
      const found = Object.entries(gitignoreTemplates).find(
        ([name]) => name.toLowerCase() === params.name.toLowerCase(),
      );
      if (found === undefined) throw notFound('gitignore_not_found', 'This template does not exist.');
      return json({ name: found[0], source: found[1] });
    },
  }),
];

export const miscellaneousOperations = [...settingsOf, ...templates];
