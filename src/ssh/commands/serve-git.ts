import { isDomainError } from '../../kernel/index.ts';
import type { GitService } from './parse-command.ts';
import { plainText } from './plain-text.ts';
import type { SshDeps } from '../deps.ts';
import { send } from './write-output.ts';
import type { GitSession } from './session.ts';

type Request = { service: GitService; owner: string; name: string };

/**
 * Runs one of git's three services over the channel and resolves with the exit status. Throws the errors of
 * `repositories` and `git`; hidden and absent repositories give the same error.
 */
export async function serveGit(deps: SshDeps, request: Request, session: GitSession): Promise<number> {
  try {
    return await serveAt(deps, request, session);
  } catch (error) {
    if (!isDomainError(error) || error.code !== 'not_found') throw error;
    const moved = await deps.repositories.findMovedGit(session.viewer, request.owner, request.name);
    if (moved === null) throw error;
    const [before, now] = [request, moved].map((at) => `${at.owner}/${at.name}`);
    session.writeError(plainText(`hearth: ${before} has moved to ${now}; please change the address of your remote\n`));
    return serveAt(deps, { ...request, ...moved }, session);
  }
}

async function serveAt(deps: SshDeps, { service, owner, name }: Request, session: GitSession): Promise<number> {
  const { repositories, git } = deps;
  const { viewer, protocol, input, output, signal, takesBytesAtOnce = false } = session;
  const client = viewer.id;
  switch (service) {
    case 'upload-pack': {
      const { path } = await repositories.openGitForRead(viewer, owner, name);
      return (
        (
          await git.transfers.uploadPack({
            path,
            protocol,
            input,
            output,
            takesBytesAtOnce,
            signal,
            client,
            stateless: false,
          })
        ).exitCode ?? 1
      );
    }
    case 'upload-archive': {
      const { path } = await repositories.openGitForRead(viewer, owner, name);
      return (await git.transfers.uploadArchive({ path, input, output, signal, client })).exitCode ?? 1;
    }
    case 'receive-pack': {
      const opened = await repositories.openGitForPush(viewer, owner, name);
      // Over SSH the ref advertisement comes first. The rest is the same as over HTTP, so both transports share the
      // code that journals the push.
      await send(await git.transfers.advertiseRefs({ path: opened.path, service, protocol, signal }), session);
      await repositories.pushes.receive(opened, { viewer, via: 'ssh', protocol, input, output, signal });
      return 0;
    }
  }
}
