import { Stack, Textarea } from '@mantine/core'
import { useText } from '../../lib/i18n.ts'
import { type Choosing, ModelFields } from './model-fields.tsx'
import { ParameterFields } from './parameter-fields.tsx'
import { texts } from './texts.ts'

/** Settings of the questions; only those of chat have a system prompt and parameters. */
export function SettingsPanel({ choices, showMissing, isChat }: Choosing & { readonly isChat: boolean }) {
  const say = useText(texts)
  const { settings, change } = choices
  return (
    <Stack gap="lg">
      <ModelFields choices={choices} showMissing={showMissing} />
      {isChat && (
        <>
          <Textarea
            label={say('system')}
            placeholder={say('systemPlaceholder')}
            autosize
            minRows={3}
            maxRows={12}
            value={settings.system}
            onChange={(event) => change({ system: event.currentTarget.value })}
          />
          <ParameterFields states={settings.parameters} onChange={(parameters) => change({ parameters })} />
        </>
      )}
    </Stack>
  )
}
