import protobuf from 'protobufjs';
import { descriptors } from './descriptors.ts';

const root = protobuf.Root.fromJSON({ nested: descriptors } as protobuf.INamespace).resolveAll();

export const timestampType: protobuf.Type = root.lookupType('google.protobuf.Timestamp');
export const structType: protobuf.Type = root.lookupType('google.protobuf.Struct');

/** One procedure of the protocol. */
export interface Procedure {
  /** Path in both framings: `/runner.v1.RunnerService/FetchTask`. */
  readonly path: string;
  readonly name: ProcedureName;
  readonly request: protobuf.Type;
  readonly response: protobuf.Type;
}

export type ProcedureName =
  | 'Ping'
  | 'Register'
  | 'Declare'
  | 'FetchTask'
  | 'FetchSingleTask'
  | 'UpdateTask'
  | 'UpdateLog';

/** All procedures declared in proto/, by path. */
export const procedures: ReadonlyMap<string, Procedure> = new Map(
  ['ping.v1.PingService', 'runner.v1.RunnerService'].flatMap((service) =>
    root.lookupService(service).methodsArray.map((method) => {
      const path = `/${service}/${method.name}`;
      method.resolve();
      const { resolvedRequestType: request, resolvedResponseType: response } = method;
      return [path, { path, name: method.name as ProcedureName, request: request!, response: response! }] as const;
    }),
  ),
);
