/** The console API: generated operations and types, and how they are called here. */
export { body, forgetAnswers, whenSessionLost } from './client';
export { serverNow } from './clock';
export { APIError, asAPIError, type Problem } from './errors';
export * from './gen/sdk.gen';
export type * from './gen/types.gen';
export { reachable, useReachable } from './reachable';
export { withNew } from './withNew';
