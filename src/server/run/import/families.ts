import { newApiTypes, oneApiTypes, type TypeTable } from './channel-types.ts'
import { columns as litellmColumns } from './litellm-source.ts'
import type { Source } from './source.ts'

export type FamilyName = 'new-api' | 'one-api' | 'litellm'

/** A program whose data can be imported: its tables, channel types and special values. */
export interface Family {
  readonly name: FamilyName
  /** Whether a database belongs to this program. */
  isOf(tables: Source['tables']): boolean
  version(source: Source): Promise<string>
  readonly channelTypes: TypeTable
  /** Rows of the source have no ids. */
  readonly withoutIds?: true
  /** The status that marks a deleted user. */
  readonly deletedStatus?: number
  /** Columns that the import reads, by table; `*` for tables that need no import. The report lists all others. */
  readonly columns: Readonly<Record<string, string>>
}

const shared = {
  users:
    'id username password display_name role status email github_id wechat_id access_token quota used_quota request_count group aff_code inviter_id',
  tokens: 'id user_id key status name created_time accessed_time expired_time remain_quota unlimited_quota used_quota',
  channels:
    'id type key status name weight created_time test_time response_time base_url other balance balance_updated_time models group used_quota model_mapping priority',
  options: 'key value',
  redemptions: 'id user_id key status name quota created_time redeemed_time',
  logs: 'id user_id created_at type content username token_name model_name quota prompt_tokens completion_tokens is_stream channel_id request_id',
}

export const families: Readonly<Record<FamilyName, Family>> = {
  'new-api': {
    name: 'new-api',
    isOf: (tables) => hasColumns(tables, 'tokens', ['model_limits_enabled', 'allow_ips']),
    version: async (source) => {
      const setups = source.tables.has('setups') ? await source.all('setups') : []
      if (setups[0]?.version) return String(setups[0].version)
      return hasColumns(source.tables, 'channels', ['param_override']) ? '0.6 or later' : '0.4 or 0.5'
    },
    channelTypes: newApiTypes,
    columns: {
      users: `${shared.users} telegram_id linux_do_id oidc_id aff_count aff_quota aff_history deleted_at setting created_at`,
      tokens: `${shared.tokens} model_limits_enabled model_limits allow_ips group deleted_at`,
      channels: `${shared.channels} open_ai_organization test_model status_code_mapping auto_ban other_info tag setting param_override header_override channel_info`,
      options: shared.options,
      redemptions: `${shared.redemptions} used_user_id expired_time deleted_at`,
      logs: `${shared.logs} use_time token_id group other channel_name`,
      quota_data: 'id user_id username model_name created_at token_used count quota',
      top_ups: 'id user_id amount money trade_no create_time status complete_time payment_method',
      midjourneys:
        'id code user_id action mj_id prompt prompt_en description state submit_time start_time finish_time image_url status progress fail_reason channel_id quota buttons properties',
      tasks:
        'id created_at updated_at task_id platform user_id channel_id quota action status fail_reason submit_time start_time finish_time progress properties data',
      // `abilities` is derived from the channels; `setups` is read as the version.
      abilities: '*',
      setups: '*',
    },
  },
  'one-api': {
    name: 'one-api',
    isOf: (tables) => hasColumns(tables, 'tokens', ['subnet']) && !hasColumns(tables, 'tokens', ['model_limits_enabled']),
    version: async (source) => (hasColumns(source.tables, 'logs', ['elapsed_time']) ? '0.6.10 or later' : '0.6'),
    channelTypes: oneApiTypes,
    deletedStatus: 3,
    columns: {
      users: shared.users,
      tokens: `${shared.tokens} models subnet`,
      channels: `${shared.channels} config system_prompt`,
      options: shared.options,
      redemptions: shared.redemptions,
      logs: `${shared.logs} elapsed_time`,
      abilities: '*',
    },
  },
  litellm: {
    name: 'litellm',
    isOf: (tables) => tables.size === 1 && tables.has('channels'),
    version: async () => '',
    // `openLitellmSource` has already translated the types; 0 means none.
    channelTypes: (number) => (number > 0 ? { type: number } : undefined),
    withoutIds: true,
    columns: { channels: litellmColumns.join(' ') },
  },
}

/** Throws, with instructions, for a database of another program or of the other family. */
export function requireFamily(family: Family, { tables, left, kind }: Source): void {
  if (tables.has('key_ring')) throw new Error('This is a database of Sluice: use backup and restore')
  for (const table of ['users', 'tokens', 'channels']) {
    const why = left.get(table)
    if (why !== undefined && Object.hasOwn(family.columns, table))
      throw new Error(`The table ${table} of this ${kind} database is not that of ${family.name}: ${why}`)
  }
  if (family.isOf(tables)) return
  const other = Object.values(families).find((one) => one.isOf(tables))
  if (other) throw new Error(`This is a database of ${other.name}: run sluice import ${other.name}`)
  throw new Error(
    `This ${kind} database has no tables of ${family.name}: it has ${[...tables.keys()].slice(0, 8).join(', ') || 'none'}`,
  )
}

function hasColumns(tables: Source['tables'], table: string, columns: readonly string[]): boolean {
  return columns.every((column) => tables.get(table)?.has(column))
}
