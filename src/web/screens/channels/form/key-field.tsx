import { Button, SegmentedControl, Select, Stack } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import type { Channel, ChannelType } from '../../../../contract/entities/channel.ts'
import { useLocal, useText } from '../../../lib/i18n.ts'
import { SecretTextarea } from '../../../ui/form/secret-textarea.tsx'
import styles from './form.module.css'
import { type ChannelFormState, keysOf } from './form-values.ts'
import { settingOf } from './setting.ts'
import { texts } from './texts.ts'

interface KeyFieldProps {
  readonly form: ChannelFormState
  readonly type: ChannelType | undefined
  readonly channel: Channel | undefined
  readonly onKeys: (channel: Channel) => void
}

const wholes = ['one', 'together', 'apart'] as const

/** The key or keys of a new channel, or replacements for all keys of a saved one. */
export function KeyField({ form, type, channel, onKeys }: KeyFieldProps) {
  const say = useText(texts)
  const local = useLocal()
  const format = type ? local(type.key_format) : ''
  const isWhole = type?.key_has_lines === true
  const { key, lines } = form.values
  const hasMany = channel !== undefined && channel.keys_total > 1
  const count = isWhole ? 0 : keysOf(key).length
  const placeholder = channel ? say(hasMany ? 'keysKept' : 'keyKept', { format, count: channel.keys_total }) : format

  return (
    <Stack gap={10}>
      {!channel && !isWhole && (
        <SegmentedControl
          size="xs"
          className={styles.segments ?? ''}
          aria-label={say('lines')}
          data={wholes.map((value) => ({ value, label: say(`lines_${value}`) }))}
          {...form.getInputProps('lines')}
        />
      )}
      <SecretTextarea
        label={say(hasMany || lines !== 'one' ? 'keys' : 'key')}
        withAsterisk={!channel}
        placeholder={placeholder}
        description={
          channel ? say(hasMany ? 'keysMoved' : 'keyMoved') : lines !== 'one' && !isWhole && say(`help_${lines}`, { count })
        }
        showLabel={say('keyShow')}
        hideLabel={say('keyHide')}
        minRows={isWhole || (!channel && lines !== 'one') ? 4 : 1}
        maxRows={12}
        {...form.getInputProps('key')}
      />
      {channel && (
        <div className={styles.keyTools}>
          <span>{say('keysInUse', { enabled: channel.keys_enabled, count: channel.keys_total })}</span>
          <Button size="compact-sm" variant="default" leftSection={<IconKey size={14} />} onClick={() => onKeys(channel)}>
            {say('manageKeys')}
          </Button>
        </div>
      )}
      {(hasMany || (!channel && lines === 'together')) && <KeyMode form={form} />}
    </Stack>
  )
}

const modes = ['random', 'round-robin', 'session'] as const

/** The key selection of a multi-key channel. */
function KeyMode({ form }: { form: ChannelFormState }) {
  const say = useText(texts)
  const setting = settingOf(form)
  const saved = setting?.members.key_mode
  const mode = modes.find((name) => name === saved) ?? 'random'
  return (
    <Select
      label={say('keyMode')}
      description={say(`help_${mode}`)}
      allowDeselect={false}
      disabled={!setting}
      data={modes.map((value) => ({ value, label: say(value) }))}
      value={mode}
      error={setting?.errorOf('key_mode')}
      onChange={(next) => setting?.set('key_mode', next === 'random' ? undefined : next)}
    />
  )
}
