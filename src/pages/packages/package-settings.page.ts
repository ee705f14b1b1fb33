import { invalid, isDomainError } from '../../kernel/index.ts';
import type { FoundPackage } from '../../packages/index.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import type { PackagesDeps } from './deps.ts';
import { viewPackageHead } from './package-head.view.ts';
import { readRules, typedRules, viewRetention } from './retention.view.ts';
import { packageOf, packagesUrl, packageUrl, versionUrl } from './package-urls.ts';

/** Redirect target of a deletion: the package while the viewer can see versions of it, else its trash. */
const versionsUrl = (found: FoundPackage): string => `${packageUrl(found)}?tab=versions`;

/** `…/{version}/delete` */
export const deleteVersion: Page<PersonContext, PackagesDeps> = async (context, deps) => {
  const found = await packageOf(context, deps, 'delete');
  const { version } = await deps.packages.versions.named(found, context.params['version'] ?? '');
  await deps.packages.versions.delete(context.viewer, found, version);
  return seeOther(withFlashMessage(versionsUrl(found), 'package-deleted'));
};

/** `…/{version}/restore` */
export const restoreVersion: Page<PersonContext, PackagesDeps> = async (context, deps) => {
  const found = await packageOf(context, deps, 'delete');
  const version = await deps.packages.versions.trashed(found, context.params['version'] ?? '');
  await deps.packages.versions.restore(context.viewer, found, version);
  return seeOther(withFlashMessage(versionUrl(found, version.version), 'package-restored'));
};

/** A missing repository is a refusal of the form. */
function asRefusal(error: unknown): never {
  if (isDomainError(error) && error.code === 'not_found')
    throw invalid('no_repository_to_link', 'The owner has no repository with this name.', { field: 'repository' });
  throw error;
}

async function settingsPage(
  context: PersonContext,
  deps: PackagesDeps,
  found: FoundPackage,
  refusal: FormRefusal | null = null,
): Promise<PageReply> {
  const head = await viewPackageHead(context, deps, found);
  const { retention } = deps.packages;
  const [rules, gone] = await Promise.all([retention.of(found.package), retention.preview(found)]);
  return page('packages/package-settings', {
    package: head,
    repositoryName: refusal === null ? '' : context.form.text('repository'),
    action: `${packageUrl(found)}/-/settings`,
    retention:
      refusal === null ? viewRetention(rules, gone) : { ...viewRetention(rules, gone), ...typedRules(context) },
    refusal,
    notice: viewFlashMessage(context.query),
  });
}

/** `/packages/{owner}/-/{format}/{name}/-/settings`: for administrators of the package. */
export const showPackageSettings: Page<PersonContext, PackagesDeps> = async (context, deps) =>
  settingsPage(context, deps, await packageOf(context, deps, 'manage'));

/**
 * Field `action`: `link` with `repository`, `unlink`, `public`, `private`, `retain` with rules, `retain-nothing`, or
 * `delete` with `confirm`.
 */
export const changePackage: Page<PersonContext, PackagesDeps> = async (context, deps) => {
  const { viewer, form } = context;
  const { packages } = deps;
  const found = await packageOf(context, deps, 'manage');
  const done = (notice: string) => seeOther(withFlashMessage(`${packageUrl(found)}/-/settings`, notice));
  return submitForm(
    async () => {
      switch (form.text('action')) {
        case 'link':
          await packages.link(viewer, found, form.text('repository').trim()).catch(asRefusal);
          return done('package-linked');
        case 'unlink':
          await packages.unlink(viewer, found);
          return done('package-unlinked');
        case 'public':
        case 'private':
          await packages.setVisibility(viewer, found, form.text('action') === 'public' ? 'PUBLIC' : 'PRIVATE');
          return done('settings-saved');
        case 'retain':
          await packages.retention.set(viewer, found, readRules(context));
          return done('settings-saved');
        case 'retain-nothing':
          await packages.retention.set(viewer, found, null);
          return done('settings-saved');
        case 'delete':
          if (form.text('confirm').trim() !== found.package.name)
            throw invalid('wrong_confirmation', `Type ${found.package.name} to confirm.`, { field: 'confirm' });
          await packages.delete(viewer, found);
          return seeOther(withFlashMessage(packagesUrl(found.owner.handle), 'package-deleted'));
        default:
          return done('settings-saved');
      }
    },
    (refusal) => settingsPage(context, deps, found, refusal),
  );
};
