package cli

import "github.com/urfave/cli/v2"

// The types of urfave/cli that commands use, so that a command imports one package for its flags,
// and only this one knows the library.
type (
	App             = cli.App
	Command         = cli.Command
	Context         = cli.Context
	Flag            = cli.Flag
	BoolFlag        = cli.BoolFlag
	StringFlag      = cli.StringFlag
	StringSliceFlag = cli.StringSliceFlag
	IntFlag         = cli.IntFlag
	Float64Flag     = cli.Float64Flag
	DurationFlag    = cli.DurationFlag
)
