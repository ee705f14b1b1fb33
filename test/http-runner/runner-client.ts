// runnerService, pingService: the services of proto/ for @bufbuild/protobuf, made without our own decoder, so that
//   @connectrpc/connect-node and @grpc/grpc-js, which we did not write, can play the runner.
// connectClient(url, {json?, prefix?, headers?}) and grpcClient(address, {prefix?, headers?}) → the same six calls;
//   headers are read at each of them.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { create, createFileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { DescMessage, DescService, Message } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import type { CallOptions, Interceptor } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { credentials, Metadata, Client as GrpcClient } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

interface Descriptors {
  FileDescriptorSet: { encode(set: unknown): { finish(): Uint8Array } };
}

const descriptors = createRequire(import.meta.url)('protobufjs/ext/descriptor.js') as Descriptors;

function loadServices(): { runner: DescService; ping: DescService } {
  const root = new protobuf.Root();
  for (const name of ['google/protobuf/struct.proto', 'google/protobuf/timestamp.proto'])
    root.addJSON(protobuf.common.get(name)!.nested!);
  for (const name of ['ping/v1/ping', 'runner/v1/runner']) {
    protobuf.parse(readFileSync(new URL(`../../proto/${name}.proto`, import.meta.url), 'utf8'), root);
  }
  root.resolveAll();
  const bytes = descriptors.FileDescriptorSet.encode(
    (root as unknown as { toDescriptor(edition: string): unknown }).toDescriptor('proto3'),
  ).finish();
  const set = fromBinary(FileDescriptorSetSchema, bytes);
  // protobufjs leaves names unqualified, fields without their JSON names, and files without their imports.
  const full = new Map(
    set.file.flatMap((file) =>
      [...file.messageType, ...file.enumType].map((type) => [type.name, `.${file.package}.${type.name}`]),
    ),
  );
  for (const file of set.file) {
    if (file.package !== 'google.protobuf') file.dependency = ['google_protobuf.proto'];
    for (const message of file.messageType) {
      for (const field of [...message.field, ...message.nestedType.flatMap((nested) => nested.field)]) {
        const name = field.typeName.split('.').at(-1)!;
        field.jsonName = field.name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
        if (field.typeName !== '') field.typeName = full.get(name) ?? `.${file.package}.${message.name}.${name}`;
      }
    }
    for (const service of file.service) {
      for (const method of service.method) {
        method.inputType = full.get(method.inputType.split('.').at(-1)!)!;
        method.outputType = full.get(method.outputType.split('.').at(-1)!)!;
      }
    }
  }
  const registry = createFileRegistry(set);
  return { runner: registry.getService('runner.v1.RunnerService')!, ping: registry.getService('ping.v1.PingService')! };
}

const services = loadServices();

export interface RunnerClient {
  ping(request: object): Promise<RunnerResponse>;
  register(request: object): Promise<RunnerResponse>;
  declare(request: object, options?: ClientCall): Promise<RunnerResponse>;
  fetchTask(request: object, options?: ClientCall): Promise<RunnerResponse>;
  updateTask(request: object): Promise<RunnerResponse>;
  updateLog(request: object): Promise<RunnerResponse>;
}

/** What came back, as plain JavaScript; int64 is bigint. */
export type RunnerResponse = ReturnType<typeof JSON.parse>;

interface ClientCall {
  timeoutMs?: number;
  signal?: AbortSignal;
  onHeader?: (headers: Headers) => void;
}

interface ClientOptions {
  prefix?: boolean;
  headers?: Record<string, string>;
}

/** Connect over HTTP/1.1, as runners use it. */
export function connectClient(
  url: string,
  { prefix = true, json = false, gzip = false, headers = {} }: ClientOptions & { json?: boolean; gzip?: boolean } = {},
): RunnerClient {
  const withHeaders: Interceptor = (next) => (request) => {
    for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
    return next(request);
  };
  const transport = createConnectTransport({
    baseUrl: prefix ? `${url}/api/actions` : url,
    httpVersion: '1.1',
    useBinaryFormat: !json,
    interceptors: [withHeaders],
    ...(gzip ? {} : { acceptCompression: [] }),
  });
  const clients = {
    runner: createClient(services.runner, transport),
    ping: createClient(services.ping, transport),
  } as unknown as Record<string, Record<string, (request: object, options?: CallOptions) => Promise<RunnerResponse>>>;
  return {
    ping: (request) => clients.ping!.ping!(request),
    register: (request) => clients.runner!.register!(request),
    declare: (request, options) => clients.runner!.declare!(request, options as CallOptions),
    fetchTask: (request, options) => clients.runner!.fetchTask!(request, options as CallOptions),
    updateTask: (request) => clients.runner!.updateTask!(request),
    updateLog: (request) => clients.runner!.updateLog!(request),
  };
}

/** Native gRPC in clear text. */
export function grpcClient(
  address: string,
  { prefix = false, headers = {}, maxSendBytes = -1 }: ClientOptions & { maxSendBytes?: number } = {},
): RunnerClient & { close(): void } {
  const client = new GrpcClient(address, credentials.createInsecure(), {
    'grpc.max_send_message_length': maxSendBytes,
    'grpc.max_receive_message_length': -1,
  });
  const call =
    (service: DescService, name: string) =>
    (request: object, options: ClientCall = {}) => {
      const method = service.methods.find((one) => one.name === name)!;
      const metadata = new Metadata();
      for (const [header, value] of Object.entries(headers)) metadata.set(header, value);
      const encode = (value: Message) => Buffer.from(toBinary(method.input as DescMessage, value));
      const decode = (bytes: Buffer) => fromBinary(method.output as DescMessage, bytes);
      return new Promise<RunnerResponse>((resolve, reject) => {
        const ended = client.makeUnaryRequest(
          `${prefix ? '/api/actions' : ''}/${service.typeName}/${name}`,
          encode,
          decode,
          create(method.input as DescMessage, request as never),
          metadata,
          options.timeoutMs === undefined ? {} : { deadline: Date.now() + options.timeoutMs },
          (error, response) => (error === null ? resolve(response) : reject(error)),
        );
        options.signal?.addEventListener('abort', () => ended.cancel());
      });
    };
  return {
    ping: call(services.ping, 'Ping'),
    register: call(services.runner, 'Register'),
    declare: call(services.runner, 'Declare'),
    fetchTask: call(services.runner, 'FetchTask'),
    updateTask: call(services.runner, 'UpdateTask'),
    updateLog: call(services.runner, 'UpdateLog'),
    close: () => client.close(),
  };
}
