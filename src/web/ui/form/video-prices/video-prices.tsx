import { NumberInput, Select, TextInput } from '@mantine/core'
import { soundKinds } from '../../../../contract/video-price.ts'
import { useText } from '../../../lib/i18n.ts'
import { type RowProps, RowsEditor, type RowsEditorProps } from '../rows-editor.tsx'
import { texts } from './texts.ts'
import styles from './video-prices.module.css'
import { isFirstOfModel, newVideoRow, readVideoRows, usdOfUsualClip, type VideoRow, writeVideoRows } from './video-rows.ts'

type Props = Pick<RowsEditorProps<VideoRow>, 'label' | 'description' | 'error' | 'disabled' | 'value' | 'onChange'>

const columns = ['model', 'resolution', 'sound', 'usd', 'per', 'usual', 'longest'] as const

/** Prices of clips: second or clip × resolution × sound, with what a clip of the usual length costs. */
export function VideoPricesEditor(props: Props) {
  const say = useText(texts)
  return (
    <RowsEditor<VideoRow>
      {...props}
      scrolls
      read={readVideoRows}
      write={writeVideoRows}
      newRow={newVideoRow}
      addLabel={say('add')}
      nameOf={({ model, resolution }) => `${model} ${resolution}`.trim()}
      head={
        <div className={styles.row}>
          {columns.map((name) => (
            <span key={name}>{say(name)}</span>
          ))}
        </div>
      }
    >
      {(row) => <RateFields {...row} disabled={props.disabled ?? false} />}
    </RowsEditor>
  )
}

function RateFields({ row, rows, index, change, disabled }: RowProps<VideoRow> & { readonly disabled: boolean }) {
  const say = useText(texts)
  const of = say('of', { index: index + 1 })
  const isFirst = isFirstOfModel(rows, index)
  const cost = usdOfUsualClip(rows, index)
  const named = (name: (typeof columns)[number]) => ({
    'aria-label': `${say(name)} ${of}`,
    label: say(name),
    labelProps: { className: styles.label, 'aria-hidden': true },
    disabled: disabled || (!isFirst && ofModel.has(name)),
  })
  const lengths = { allowDecimal: false, allowNegative: false, min: 1, max: 600, hideControls: true }
  return (
    <div className={styles.row}>
      <TextInput
        {...named('model')}
        className={styles.wide ?? ''}
        placeholder={say('modelPlaceholder')}
        value={row.model}
        spellCheck={false}
        onChange={(event) => change({ ...row, model: event.currentTarget.value })}
      />
      <TextInput
        {...named('resolution')}
        placeholder={say('anyResolution')}
        value={row.resolution}
        onChange={(event) => change({ ...row, resolution: event.currentTarget.value })}
      />
      <Select
        {...named('sound')}
        value={row.sound}
        data={soundKinds.map((value) => ({ value, label: say(value) }))}
        allowDeselect={false}
        onChange={(sound) => change({ ...row, sound: soundKinds.find((each) => each === sound) ?? 'any' })}
      />
      <NumberInput
        {...named('usd')}
        value={row.usd}
        allowNegative={false}
        hideControls
        onChange={(usd) => change({ ...row, usd })}
      />
      <Select
        {...named('per')}
        value={isFirst ? row.per : null}
        placeholder={say('sameModel')}
        data={(['second', 'clip'] as const).map((value) => ({ value, label: say(value) }))}
        allowDeselect={false}
        onChange={(per) => change({ ...row, per: per === 'clip' ? 'clip' : 'second' })}
      />
      <NumberInput
        {...named('usual')}
        {...lengths}
        value={isFirst ? row.usual : ''}
        onChange={(usual) => change({ ...row, usual })}
      />
      <NumberInput
        {...named('longest')}
        {...lengths}
        value={isFirst ? row.longest : ''}
        onChange={(longest) => change({ ...row, longest })}
      />
      {cost && <span className={styles.cost}>{say('usualClip', { seconds: cost.seconds, usd: cost.usd })}</span>}
    </div>
  )
}

/** Columns that a model has once. */
const ofModel: ReadonlySet<string> = new Set(['per', 'usual', 'longest'])
