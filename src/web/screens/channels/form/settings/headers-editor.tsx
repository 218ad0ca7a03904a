import { Select, TextInput } from '@mantine/core'
import { useLocal, useText } from '../../../../lib/i18n.ts'
import { type RowProps, RowsEditor } from '../../../../ui/form/rows-editor.tsx'
import shared from '../../../../ui/shared.module.css'
import styles from '../form.module.css'
import type { Setting } from '../setting.ts'
import { faultOfHeader, type HeaderDraft, isHeaderTwice, newHeader, readHeaders, writeHeaders } from './headers.ts'
import { useMemberText } from './member-text.ts'
import { texts } from './texts.ts'

/** Headers that the channel sends with each request, or removes. */
export function HeadersEditor({ setting }: { setting: Setting }) {
  const say = useText(texts)
  const text = useMemberText(setting, 'header_override')
  return (
    <RowsEditor
      {...text}
      label={say('headers')}
      description={say('headersHelp', { api_key: '{api_key}' })}
      placeholder={'{"x-team": "blue", "authorization": "Token {api_key}"}'}
      read={readHeaders}
      write={writeHeaders}
      newRow={newHeader}
      addLabel={say('headerAdd')}
      nameOf={({ name }) => name}
    >
      {(props) => <HeaderRow {...props} isChecked={text.error !== undefined} />}
    </RowsEditor>
  )
}

function HeaderRow({ row, rows, index, change, isChecked }: RowProps<HeaderDraft> & { isChecked: boolean }) {
  const say = useText(texts)
  const local = useLocal()
  const fault = row.name !== '' || isChecked ? faultOfHeader(row) : undefined
  const of = say('headerName', { index: index + 1 })
  const errorAt = (field: 'name' | 'value') => fault?.field === field && local(fault.reason)
  const code = { classNames: { input: shared.code ?? '' }, spellCheck: false } as const

  return (
    <div className={styles.ruleLine} data-kind="header">
      <TextInput
        {...code}
        aria-label={`${say('headerField')} ${of}`}
        placeholder="x-team"
        value={row.name}
        error={isHeaderTwice(rows, index) ? say('twice') : errorAt('name')}
        onChange={(event) => change({ ...row, name: event.currentTarget.value })}
      />
      <Select
        aria-label={`${say('ruleAction')} ${of}`}
        data={[
          { value: 'set', label: say('set') },
          { value: 'remove', label: say('headerRemove') },
        ]}
        allowDeselect={false}
        value={row.removes ? 'remove' : 'set'}
        onChange={(action) => change({ ...row, removes: action === 'remove' })}
      />
      {!row.removes && (
        <TextInput
          {...code}
          aria-label={`${say('ruleValue')} ${of}`}
          placeholder="blue"
          value={row.value}
          error={errorAt('value')}
          onChange={(event) => change({ ...row, value: event.currentTarget.value })}
        />
      )}
    </div>
  )
}
