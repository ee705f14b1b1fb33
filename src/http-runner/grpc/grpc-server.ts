import type { Socket } from 'node:net';
import { Metadata, Server, ServerCredentials, type status as grpcStatus } from '@grpc/grpc-js';
import type { sendUnaryData, ServerUnaryCall, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { RunnerRow } from '../../ci/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Logger } from '../../kernel/index.ts';
import { toRpcError } from '../rpc-errors.ts';
import { decodeBinary, encodeBinary } from '../messages/binary.ts';
import { LogDecoder } from '../messages/log-decoder.ts';
import { procedures } from '../messages/message-types.ts';
import type { Procedure } from '../messages/message-types.ts';
import type { Call, RunnerService } from '../runner-service.ts';
import { authenticateCall, maxMessageBytes, readCredentials } from './authenticate-call.ts';

interface GrpcOptions {
  service: RunnerService;
  logger: Logger;
}

export interface GrpcServer {
  /** Takes over a connection, after the caller has put back the data that it read. */
  inject(socket: Socket): void;
  stop(options: { graceMs: number }): Promise<void>;
}

/** Prefix that runners may add to every path. */
const prefix = '/api/actions';

/** Limit in bytes of all messages except UpdateLog. */
const maxSmallBytes = 4 * 1024 * 1024;

/** Native gRPC on @grpc/grpc-js, without TLS, which a proxy provides. */
export function createGrpcServer({ service, logger }: GrpcOptions): GrpcServer {
  const server = new Server({
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_concurrent_streams': 100,
    'grpc.max_metadata_size': 16 * 1024,
    'grpc.max_connection_idle_ms': 300_000,
    interceptors: [authenticateCall(service, logger)],
  } as never);
  for (const before of ['', prefix]) server.addService(definition(before), implementation(service, logger));
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());

  return {
    inject: (socket) => injector.injectConnection(socket),
    async stop({ graceMs }) {
      injector.drain(graceMs);
      const closed = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      const cut = setTimeout(() => server.forceShutdown(), graceMs);
      await closed.finally(() => clearTimeout(cut));
      injector.destroy();
    },
  };
}

/** grpc-js passes messages as bytes, so that both framings share the decoder. */
function definition(before: string): ServiceDefinition {
  const identity = (bytes: Buffer): Buffer => bytes;
  return Object.fromEntries(
    [...procedures.values()].map(({ path, name }) => [
      name,
      {
        path: before + path,
        requestStream: false,
        responseStream: false,
        requestSerialize: identity,
        requestDeserialize: identity,
        responseSerialize: identity,
        responseDeserialize: identity,
      },
    ]),
  );
}

function implementation(service: RunnerService, logger: Logger): UntypedServiceImplementation {
  return Object.fromEntries(
    [...procedures.values()].map((procedure) => [
      procedure.name,
      (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => {
        void handleCall(service, logger, procedure, call, callback);
      },
    ]),
  );
}

async function handleCall(
  service: RunnerService,
  logger: Logger,
  procedure: Procedure,
  call: ServerUnaryCall<Buffer, Buffer>,
  callback: sendUnaryData<Buffer>,
): Promise<void> {
  const gone = new AbortController();
  let isDone = false;
  // Also emitted after a successful call.
  call.on('cancelled', () => {
    if (!isDone) gone.abort();
  });
  try {
    const reply = await run(service, procedure, call, gone.signal);
    isDone = true;
    if (gone.signal.aborted) await service.undelivered(procedure.name, reply);
    callback(null, encodeBinary(procedure.response, reply));
  } catch (error) {
    isDone = true;
    const { code, message } = toRpcError(error, logger, procedure.path);
    callback({ code: code.number as grpcStatus, details: message, metadata: new Metadata() });
  }
}

async function run(
  service: RunnerService,
  procedure: Procedure,
  call: ServerUnaryCall<Buffer, Buffer>,
  signal: AbortSignal,
): Promise<object> {
  const context = readCall(call, signal);
  // The interceptor has already authenticated the call; this identifies the runner.
  const runner: RunnerRow | null = await service.authenticate(procedure.name, context);
  const { request } = call;
  if (procedure.name === 'UpdateLog') {
    const rows = service.newLogRows();
    try {
      const decoder = new LogDecoder(rows);
      await decoder.push(request);
      return await service.updateLog(runner!, decoder.finish());
    } finally {
      await rows.discard();
    }
  }
  if (request.length > maxSmallBytes) throw invalid('message_too_large', 'The message is too large.');
  return service.respond(procedure.name, runner, context, decodeBinary<object>(procedure.request, request));
}

function readCall(call: ServerUnaryCall<Buffer, Buffer>, signal: AbortSignal): Call {
  const deadline = call.getDeadline();
  const at = deadline instanceof Date ? deadline.getTime() : deadline;
  const key = call.metadata.get('x-runner-request-key')[0];
  return {
    ...readCredentials(call.metadata),
    requestKey: typeof key === 'string' && key !== '' ? key.slice(0, 255) : null,
    deadlineMs: Number.isFinite(at) ? Math.max(0, at - Date.now()) : null,
    origin: null,
    signal,
  };
}
