import type { Core } from '../../../base/options/core.ts'
import { scimPath } from '../sign-on/settings.ts'

/** The forms of SCIM's answers (RFC 7643, RFC 7644). */

export const urn = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  list: 'urn:ietf:params:scim:api:messages:2.0:ListResponse',
  error: 'urn:ietf:params:scim:api:messages:2.0:Error',
  config: 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
  type: 'urn:ietf:params:scim:schemas:core:2.0:ResourceType',
  schema: 'urn:ietf:params:scim:schemas:core:2.0:Schema',
} as const

export interface Listed {
  readonly resources: readonly object[]
  readonly total: number
  /** The number of the first one, from 1. */
  readonly startIndex: number
}

export function listResponse({ resources, total, startIndex }: Listed): object {
  return {
    schemas: [urn.list],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  }
}

/** Times are unix seconds. */
export function metaOf(
  core: Pick<Core, 'options'>,
  { type, id, created, changed }: { type: 'User' | 'Group'; id: number; created: number; changed: number },
): object {
  const time = (at: number) => new Date(at * 1000).toISOString()
  const location = `${addressOf(core)}/${type}s/${id}`
  return { resourceType: type, created: time(created), lastModified: time(changed), location }
}

function addressOf({ options }: Pick<Core, 'options'>): string {
  return `${options.current.ServerAddress}${scimPath}`
}

export const pageMax = 200

export function serviceProviderConfig(core: Pick<Core, 'options'>): object {
  const no = { supported: false }
  return {
    schemas: [urn.config],
    patch: { supported: true },
    bulk: { ...no, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: pageMax },
    changePassword: no,
    sort: no,
    etag: no,
    authenticationSchemes: [
      { type: 'oauthbearertoken', name: 'Bearer token', description: 'The SCIM token of the organisation', primary: true },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${addressOf(core)}/ServiceProviderConfig` },
  }
}

export function resourceTypes(core: Pick<Core, 'options'>): object[] {
  const type = (name: 'User' | 'Group', schema: string) => ({
    schemas: [urn.type],
    id: name,
    name,
    endpoint: `/${name}s`,
    schema,
    meta: { resourceType: 'ResourceType', location: `${addressOf(core)}/ResourceTypes/${name}` },
  })
  return [type('User', urn.user), type('Group', urn.group)]
}

const attribute = (name: string, more: object = {}) => ({
  name,
  type: 'string',
  multiValued: false,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...more,
})

export function schemas(core: Pick<Core, 'options'>): object[] {
  const schema = (id: string, name: string, attributes: object[]) => ({
    schemas: [urn.schema],
    id,
    name,
    attributes,
    meta: { resourceType: 'Schema', location: `${addressOf(core)}/Schemas/${id}` },
  })
  const id = attribute('externalId', { caseExact: true })
  const flag = { type: 'boolean' }
  return [
    schema(urn.user, 'User', [
      attribute('userName', { required: true, uniqueness: 'server' }),
      id,
      attribute('displayName'),
      attribute('active', flag),
      attribute('name', {
        type: 'complex',
        subAttributes: ['formatted', 'familyName', 'givenName', 'middleName'].map((name) => attribute(name)),
      }),
      attribute('emails', {
        type: 'complex',
        multiValued: true,
        subAttributes: [attribute('value'), attribute('type'), attribute('primary', flag)],
      }),
    ]),
    schema(urn.group, 'Group', [
      attribute('displayName', { required: true, uniqueness: 'server' }),
      id,
      attribute('members', {
        type: 'complex',
        multiValued: true,
        subAttributes: [attribute('value', { mutability: 'immutable' }), attribute('display', { mutability: 'readOnly' })],
      }),
    ]),
  ]
}
