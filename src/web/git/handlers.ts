import type { Viewer } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Context, Middleware } from '../context.ts';
import { authenticate } from './authenticate.ts';
import { answerError, challengeStrangers, uncached } from './errors.ts';
import { openBody } from './request-body.ts';
import type { GitRooms } from './rooms.ts';

export interface GitHandlers {
  infoRefs: Middleware;
  uploadPack: Middleware;
  receivePack: Middleware;
}

type Service = 'upload-pack' | 'receive-pack';

/** A fetch request is a list of object ids; nobody needs this many. */
const maxFetchBytes = 64 * 1024 * 1024;

/** A client that moves nearly nothing for so long loses its place. */
const stallMs = 60_000;

/**
 * Git's smart HTTP protocol (gitprotocol-http): the ref advertisement, fetches, pushes.
 * There is no other way in: no plain files, no cookies.
 */
export function createGitHandlers(rooms: GitRooms): GitHandlers {
  return {
    infoRefs: guarded(rooms, async (ctx, signal) => {
      const service = readService(ctx);
      const viewer = await authenticate(rooms, ctx);
      const opened = await open(rooms, ctx, viewer, service).catch(async (error: unknown) => {
        const moved = await movedTo(rooms, ctx, viewer);
        if (moved === null) throw error;
        return moved;
      });
      if (typeof opened === 'string') return redirect(ctx, `${opened}/info/refs?service=git-${service}`);
      const { path } = opened;
      const protocol = readProtocol(ctx, service);
      const refs = await rooms.git.advertiseRefs({ path, service, protocol, signal });
      begin(ctx, `application/x-git-${service}-advertisement`);
      // Version 2 has no such greeting: its first line says the version.
      const greeting = protocol === 'version=2' ? nothing : greetings[service];
      ctx.length = greeting.length + refs.length;
      // In two pieces: a long list would be copied for the sake of one line.
      ctx.res.cork();
      ctx.res.write(greeting);
      ctx.res.write(refs);
      finish(ctx);
    }),

    uploadPack: guarded(rooms, async (ctx, signal) => {
      const viewer = await authenticate(rooms, ctx);
      const { path } = await open(rooms, ctx, viewer, 'upload-pack');
      const input = openBody(ctx.req, 'application/x-git-upload-pack-request', maxFetchBytes);
      begin(ctx, 'application/x-git-upload-pack-result');
      const { cutShort } = await rooms.git.uploadPack({
        path,
        protocol: readProtocol(ctx, 'upload-pack'),
        input,
        output: ctx.res,
        takesBytesAtOnce: true,
        stateless: true,
        signal,
        client: viewer.kind === 'person' ? viewer.id : ctx.state.address,
        stallMs,
      });
      // An answer that was cut short must not look complete.
      if (cutShort) ctx.res.destroy();
      finish(ctx);
    }),

    receivePack: guarded(rooms, async (ctx, signal) => {
      const viewer = await authenticate(rooms, ctx);
      const opened = await open(rooms, ctx, viewer, 'receive-pack');
      // The pack is bounded by git's own limit.
      const input = openBody(ctx.req, 'application/x-git-receive-pack-request', Infinity);
      begin(ctx, 'application/x-git-receive-pack-result');
      const protocol = readProtocol(ctx, 'receive-pack');
      await rooms.repositories.receivePush(opened, { viewer, via: 'http', protocol, input, output: ctx.res, signal, stallMs });
      finish(ctx);
    }),
  };
}

const nothing = Buffer.alloc(0);
const greeting = (service: Service): Buffer => {
  const line = `# service=git-${service}\n`;
  return Buffer.from(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`);
};

const greetings: Record<Service, Buffer> = {
  'upload-pack': greeting('upload-pack'),
  'receive-pack': greeting('receive-pack'),
};

/** Runs a handler with a signal for a client that leaves, and turns what it throws into an answer. */
function guarded({ logger }: GitRooms, handle: (ctx: Context, signal: AbortSignal) => Promise<void>): Middleware {
  return async (ctx) => {
    const gone = new AbortController();
    const onClose = () => {
      if (!ctx.res.writableFinished) gone.abort();
    };
    ctx.res.on('close', onClose);
    if (ctx.res.destroyed) onClose();
    // git may think for minutes without a byte; who holds up whom is watched elsewhere.
    ctx.req.socket.setTimeout(0);
    try {
      await handle(ctx, gone.signal);
    } catch (error) {
      await answerError(ctx, error, logger);
    }
    // What nobody has read would stand in the way of the next request on this connection.
    ctx.req.resume();
  };
}

function open(rooms: GitRooms, ctx: Context, viewer: Viewer, service: Service) {
  const { owner = '', name = '' } = ctx.params as Record<string, string>;
  const bare = name.replace(/\.git$/i, '');
  const { repositories } = rooms;
  const opening =
    service === 'upload-pack' ? repositories.openForRead(viewer, owner, bare) : repositories.openForPush(viewer, owner, bare);
  return opening.catch(challengeStrangers(viewer));
}

/** Where a repository is now that was once at this address, for who may see it there. */
async function movedTo({ repositories }: GitRooms, { params }: Context, viewer: Viewer): Promise<string | null> {
  const { owner = '', name = '' } = params as Record<string, string>;
  const moved = await repositories.findMoved(viewer, owner, name.replace(/\.git$/i, ''));
  return moved === null ? null : `/git/${encodeURIComponent(moved.owner)}/${encodeURIComponent(moved.name)}.git`;
}

/** git follows a redirect on its first request, says so, and then stays at the new address. */
function redirect(ctx: Context, to: string): void {
  ctx.set(uncached);
  ctx.redirect(to);
  ctx.status = 301;
}

function readService(ctx: Context): Service {
  const asked = new URLSearchParams(ctx.querystring).getAll('service');
  if (asked.length === 1 && asked[0] === 'git-upload-pack') return 'upload-pack';
  if (asked.length === 1 && asked[0] === 'git-receive-pack') return 'receive-pack';
  throw invalid('smart_http_only', 'This server speaks git’s smart HTTP protocol only.');
}

/** Pushes know no version 2; a client that asks for it gets the first one, as git does. */
function readProtocol(ctx: Context, service: Service): string | null {
  const header = ctx.get('Git-Protocol');
  const known = service === 'upload-pack' ? /^version=[012]$/ : /^version=[01]$/;
  return known.test(header) ? header : null;
}

function begin(ctx: Context, type: string): void {
  ctx.status = 200;
  ctx.set({ ...uncached, 'Content-Type': type });
}

/** Ends an answer that was written past Koa. */
function finish(ctx: Context): void {
  ctx.respond = false;
  ctx.res.end();
}
