import { TextInput } from '@mantine/core'
import { useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'
import styles from './header-lists.module.css'
import { type HeaderRow, newHeader, readHeaderRows, writeHeaderRows } from './header-rows.ts'
import type { MapProps } from './map-editor.tsx'
import { RowsEditor } from './rows-editor.tsx'

const columns = [
  { field: 'model', label: 'headerModel' },
  { field: 'header', label: 'headerName' },
  { field: 'value', label: 'headerValue' },
] as const

/** Headers of requests by model, one row for each value. */
export function HeaderLists(props: MapProps) {
  const say = useText(texts)
  return (
    <RowsEditor<HeaderRow>
      {...props}
      scrolls
      read={readHeaderRows}
      write={writeHeaderRows}
      newRow={newHeader}
      addLabel={say('ratioAdd')}
      nameOf={({ model, header }) => [model, header].filter(Boolean).join(' ')}
      head={
        <div className={styles.row}>
          {columns.map(({ field, label }) => (
            <span key={field}>{say(label)}</span>
          ))}
        </div>
      }
    >
      {({ row, index, change }) => (
        <div className={styles.row}>
          {columns.map(({ field, label }) => (
            <TextInput
              key={field}
              aria-label={say('headerOf', { name: say(label), index: index + 1 })}
              placeholder={say(label)}
              value={row[field]}
              disabled={props.disabled}
              autoCapitalize="none"
              spellCheck={false}
              onChange={(event) => change({ ...row, [field]: event.currentTarget.value })}
            />
          ))}
        </div>
      )}
    </RowsEditor>
  )
}
