# symtool.mk: symbol files for crash reports, in a build by GNU make.
#
#   SYMTOOL_BINARIES = app libcore.so     make symbols of these; set it before `include`
#   SYMTOOL_PACKAGES = z.deb z-dbgsym.deb and of what is in these; both are optional
#   include symtool.mk
#
#   make symbols          BINARY.sym for each
#   make check-symbols    and lint them beside their binaries
#   make store-symbols    and add them to SYMTOOL_STORE/NAME/ID/NAME.sym, and those of packages
#   make split-symbols    stripped/BINARY, the file to ship, and BINARY.debug
#   make clean-symbols    remove all of these, but not the store
#
# If a binary is linked again to the same bytes, its .sym is left alone, and what depends
# on it is not made again. Binaries without debug information in packages are reported, and
# SYMTOOL_PACKAGE_FLAGS = --skip-no-debug-info leaves them out. make cannot handle names with blanks.

SYMTOOL            ?= symtool
SYMTOOL_FLAGS      ?=
SYMTOOL_LINT_FLAGS ?=
SYMTOOL_STORE      ?= symbols
SYMTOOL_PACKAGES   ?=
OBJCOPY            ?= objcopy

# The stamp has the time before the work: the .sym is older than it only if it was left
# alone, and a binary that changes during the work is newer.
define symtool_binary
$(1).sym.stamp: $(1)
	@touch $$@.tmp
	$$(SYMTOOL) dump --restat -MD -MP -MF $(1).sym.d -MT $$@ $$(SYMTOOL_FLAGS) -o $(1).sym $(1) || { rm -f $$@.tmp; exit 1; }
	@mv $$@.tmp $$@
$(1).sym: $(1).sym.stamp
	@test -f $$@ || $$(SYMTOOL) dump $$(SYMTOOL_FLAGS) -o $$@ $(1)
$(1).sym.checked: $(1).sym
	$$(SYMTOOL) lint --verdict=false --stamp $$@ $$(SYMTOOL_LINT_FLAGS) --binary $(1) $(1).sym
$(1).sym.stored: $(1).sym
	$$(SYMTOOL) store add --replace $$(SYMTOOL_STORE) $(1).sym
	@touch $$@
$(1).debug: $(1)
	$$(OBJCOPY) --only-keep-debug $(1) $$@
$(dir $(1))stripped/$(notdir $(1)): $(1) $(1).debug
	@mkdir -p $$(@D)
	$$(OBJCOPY) --strip-unneeded --add-gnu-debuglink=$(1).debug $(1) $$@
-include $(1).sym.d
endef

$(foreach binary,$(SYMTOOL_BINARIES),$(eval $(call symtool_binary,$(binary))))

symtool-packages.stored: $(SYMTOOL_PACKAGES)
	$(SYMTOOL) dump --restat --accept no-debug-info --accept no-binaries $(SYMTOOL_FLAGS) $(SYMTOOL_PACKAGE_FLAGS) --store $(SYMTOOL_STORE) $^
	@touch $@

.PHONY: symbols check-symbols store-symbols split-symbols clean-symbols
symbols: $(SYMTOOL_BINARIES:=.sym)
check-symbols: $(SYMTOOL_BINARIES:=.sym.checked)
store-symbols: $(SYMTOOL_BINARIES:=.sym.stored) $(if $(SYMTOOL_PACKAGES),symtool-packages.stored)
split-symbols: $(foreach binary,$(SYMTOOL_BINARIES),$(dir $(binary))stripped/$(notdir $(binary)))
clean-symbols:
	rm -f $(foreach suffix,.sym .sym.d .sym.stamp .sym.checked .sym.stored .debug,$(SYMTOOL_BINARIES:=$(suffix))) symtool-packages.stored
	rm -rf $(sort $(foreach binary,$(SYMTOOL_BINARIES),$(dir $(binary))stripped))
