import type { ListedDeployKey } from '../../repositories/index.ts';
import { oneOf, personUrl, repositoryUrl } from '../../http/index.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryPersonContext } from '../app/request-context.ts';
import { viewTime } from '../app/times.view.ts';
import type { RepositoryDeps } from './deps.ts';

interface KeyForm {
  title: string;
  key: string;
  access: 'read' | 'write';
}

const listUrl = ({ found }: RepositoryPersonContext): string => `${repositoryUrl(found.canonical)}/settings/keys`;

async function keysPage(
  context: RepositoryPersonContext,
  { repositories, clock, config }: RepositoryDeps,
  form: KeyForm,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { viewer, found, query } = context;
  const keys = await repositories.deployKeys.list(viewer, found.canonical.owner, found.canonical.name);
  return page('repository/deploy-keys', {
    repository: viewRepositoryHeader(found),
    section: 'keys',
    keys: keys.map((key) => viewKey(key, clock.now(), config.ssh.systemSshd)),
    form,
    refusal,
    notice: viewFlashMessage(query),
  });
}

/**
 * @param systemSshd whether OpenSSH is the SSH server, which supports keys on security tokens
 */
const viewKey = (key: ListedDeployKey, now: number, systemSshd: boolean) => ({
  id: key.id,
  title: key.title,
  type: key.type,
  fingerprint: key.fingerprint,
  mayWrite: key.access === 'write',
  worksHere: key.worksWithBuiltInServer || systemSshd,
  addedBy: key.person?.username == null ? null : { name: key.person.username, url: personUrl(key.person.username) },
  added: viewTime(key.createdAt, now),
  lastUsed: key.lastUsedAt === null ? null : viewTime(key.lastUsedAt, now),
});

/** `B/settings/keys`: the deploy keys, for all administrators of the repository. */
export const showDeployKeys: Page<RepositoryPersonContext, RepositoryDeps> = (context, deps) =>
  keysPage(context, deps, { title: '', key: '', access: 'read' }, null);

/** Fields `title`, `key`, a whole line of a `.pub` file, and `access`: read or write. */
export const addDeployKey: Page<RepositoryPersonContext, RepositoryDeps> = (context, deps) => {
  const {
    viewer,
    found: { canonical },
    form,
  } = context;
  const input = {
    title: form.text('title'),
    key: form.text('key'),
    access: oneOf(['read', 'write'] as const, form.text('access')),
  };
  return submitForm(
    async () => {
      const { title, key: line, access } = input;
      await deps.repositories.deployKeys.add(viewer, canonical.owner, canonical.name, { title, line, access });
      return seeOther(withFlashMessage(listUrl(context), 'deploy-key-added'));
    },
    (refusal) => keysPage(context, deps, input, refusal),
  );
};

export const removeDeployKey: Page<RepositoryPersonContext, RepositoryDeps> = async (context, { repositories }) => {
  const {
    viewer,
    found: { canonical },
    params,
  } = context;
  await repositories.deployKeys.remove(viewer, canonical.owner, canonical.name, params.id ?? '');
  return seeOther(withFlashMessage(listUrl(context), 'deploy-key-removed'));
};
